package dev.clew;

import dev.clew.v1.CallError;
import dev.clew.v1.FinishCallRequest;
import dev.clew.v1.WorkerTool;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** A tool as a worker offers it, and what came of its calls as it travels. */
record OfferedTool(WorkerTool offer, ToolFunction function) {
  private static final int MOST_BYTES = 4096;
  private static final String MORE = "…";
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  /** The outcome of a call, whatever it is. */
  FinishCallRequest outcome(ToolCall call) {
    try {
      ToolOutput output = Optional.ofNullable(function.run(call)).orElse(ToolOutput.NOTHING);
      return FinishCallRequest.newBuilder().setResult(output.result()).build();
    } catch (ToolException said) {
      return failed(said);
    } catch (Throwable thrown) {
      return failed(named(thrown), true);
    }
  }

  /** A call that went wrong. */
  static FinishCallRequest failed(String message, boolean retryable) {
    CallError.Builder error = CallError.newBuilder().setMessage(cut(message));
    return FinishCallRequest.newBuilder().setError(error.setRetryable(retryable)).build();
  }

  private static FinishCallRequest failed(ToolException said) {
    String message = Optional.ofNullable(said.getMessage()).orElse("");
    FinishCallRequest failed =
        failed(message.isEmpty() ? "the tool failed" : message, said.retryable());
    return said.retryAfter().map(time -> after(failed, time)).orElse(failed);
  }

  /** A time that the server refuses would cost the whole error. */
  private static FinishCallRequest after(FinishCallRequest failed, Duration time) {
    Duration most = time.compareTo(LONGEST_WAIT) < 0 ? time : LONGEST_WAIT;
    FinishCallRequest.Builder later = failed.toBuilder();
    later.getErrorBuilder().setRetryAfter(Times.wire(most.isNegative() ? Duration.ZERO : most));
    return later.build();
  }

  private static String named(Throwable thrown) {
    String simple = thrown.getClass().getSimpleName();
    String name = simple.isEmpty() ? thrown.getClass().getName() : simple;
    return thrown.getMessage() == null ? name : name + ": " + thrown.getMessage();
  }

  /** What a model is told, within what a server takes. */
  private static String cut(String text) {
    // Half a surrogate pair becomes a question mark.
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MOST_BYTES) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    int end = MOST_BYTES - MORE.getBytes(StandardCharsets.UTF_8).length;
    while ((bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8) + MORE;
  }
}
