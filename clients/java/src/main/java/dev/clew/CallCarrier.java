package dev.clew;

import dev.clew.errors.CallNotPendingException;
import dev.clew.errors.ClewException;
import dev.clew.errors.InvalidException;
import dev.clew.errors.StateTooLargeException;
import dev.clew.errors.ThreadInterruptedException;
import dev.clew.v1.FinishCallRequest;
import dev.clew.v1.ReportProgressRequest;
import dev.clew.v1.WorkerCall;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Carries calls out: runs their tools, and brings what came of them until a server has it. */
final class CallCarrier {
  private static final System.Logger LOG = System.getLogger("dev.clew");
  private static final long FINISH_SECONDS = 30;

  private final Connection connection;
  private final String workerId;
  private final Map<String, OfferedTool> tools;
  private final HeldCalls held;

  CallCarrier(
      Connection connection, String workerId, Map<String, OfferedTool> tools, HeldCalls held) {
    this.connection = connection;
    this.workerId = workerId;
    this.tools = tools;
    this.held = held;
  }

  /** Carries a call out, as often as it is given to this worker meanwhile. */
  void carry(HeldCall call) {
    boolean more = true;
    while (more) {
      boolean retried = false;
      try {
        retried = call.begin() && carryOnce(call);
      } catch (InterruptedException notWanted) {
        // Nothing of it is brought.
      } finally {
        more = held.end(call, retried);
      }
    }
  }

  /** Whether it is tried again. */
  private boolean carryOnce(HeldCall call) throws InterruptedException {
    FinishCallRequest outcome = outcome(call.wire());
    return call.settle() && bring(call, outcome);
  }

  private FinishCallRequest outcome(WorkerCall wire) {
    String name = wire.getTool();
    return Optional.ofNullable(tools.get(name))
        .map(tool -> tool.outcome(new ToolCall(wire, json -> report(wire, json))))
        .orElseGet(() -> OfferedTool.failed("this worker has no tool " + name, true));
  }

  private void report(WorkerCall wire, String progressJson) {
    ReportProgressRequest request =
        ReportProgressRequest.newBuilder()
            .setWorkerId(workerId)
            .setCall(wire.getName())
            .setProgressJson(progressJson)
            .build();
    try {
      connection.ask(() -> connection.workers().reportProgress(request));
    } catch (ClewException dropped) {
      LOG.log(System.Logger.Level.DEBUG, "progress was not told: {0}", dropped.getMessage());
    }
  }

  /**
   * Until a server has the outcome, or says that nobody wants it; whether the call is tried again
   * instead.
   */
  private boolean bring(HeldCall call, FinishCallRequest first) throws InterruptedException {
    String tool = call.wire().getTool();
    FinishCallRequest outcome = first;
    int tries = 0;
    while (true) {
      call.answer();
      try {
        return finish(call, outcome);
      } catch (CallNotPendingException late) {
        log(System.Logger.Level.INFO, "an outcome of {0} came too late: {1}", tool, late);
        return false;
      } catch (InvalidException | StateTooLargeException refused) {
        if (outcome.hasError()) {
          log(System.Logger.Level.ERROR, "what became of {0} cannot be told: {1}", tool, refused);
          return false;
        }
        String why = "the result of " + tool + " cannot be kept: " + refused.getMessage();
        outcome = OfferedTool.failed(why, false);
        continue;
      } catch (ThreadInterruptedException early) {
        log(System.Logger.Level.INFO, "the outcome of {0} is kept: {1}", tool, early);
      } catch (RuntimeException failed) {
        if (tries == 0) {
          log(System.Logger.Level.WARNING, "the outcome of {0} is kept: {1}", tool, failed);
        }
      }
      call.pause(Pauses.nanos(tries));
      tries++;
    }
  }

  private boolean finish(HeldCall call, FinishCallRequest outcome) {
    FinishCallRequest request =
        outcome.toBuilder().setWorkerId(workerId).setCall(call.name()).build();
    if (request.getSerializedSize() > CallDefaults.MOST_SENT) {
      // gRPC would refuse it each time, in the words of a server that has no room just now.
      throw Refusals.argument("result", "it is larger than the transport takes");
    }
    return connection
        .ask(
            () ->
                connection
                    .workers()
                    .withDeadlineAfter(FINISH_SECONDS, TimeUnit.SECONDS)
                    .finishCall(request))
        .getRetried();
  }

  private static void log(
      System.Logger.Level level, String text, String tool, RuntimeException why) {
    LOG.log(level, text, tool, why.getMessage());
  }
}
