package dev.clew;

import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import dev.clew.errors.ClewException;
import dev.clew.errors.Refusal;
import dev.clew.errors.RunCancelledException;
import dev.clew.errors.RunFailedException;
import dev.clew.errors.StreamCutException;
import dev.clew.v1.Approval;
import dev.clew.v1.Event;
import dev.clew.v1.FailureCode;
import dev.clew.v1.Message;
import dev.clew.v1.RunFailed;
import dev.clew.v1.RunSuspended;
import dev.clew.v1.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What a stream's events come to: keeps of them what a reply is made from. */
final class Ending {
  private Event last;
  private List<Message> spoken = List.of();
  private List<Approval> asked = new ArrayList<>();
  private long askedAt;

  /** Takes one event in. */
  void heed(Event event) {
    switch (event.getPayloadCase()) {
      case CHECKPOINT_WRITTEN -> spoken = event.getCheckpointWritten().getMessagesList();
      case APPROVAL_REQUESTED -> heedAsked(event);
      case RUN_SUSPENDED, RUN_COMPLETED, RUN_FAILED -> last = event;
      default -> {}
    }
  }

  /**
   * The reply. Throws what a run that failed or was cancelled stands for.
   *
   * @param waiting lists what a thread waits for
   */
  Reply reply(Function<String, List<Approval>> waiting) {
    if (last == null) {
      String text = "the stream ended without a word on the run; watch the thread for the rest";
      throw new StreamCutException(Refusal.of("stream_cut", text, Map.of()));
    }
    return switch (last.getPayloadCase()) {
      case RUN_COMPLETED -> completed(last.getRunCompleted().getReply());
      case RUN_SUSPENDED -> suspended(approvals(last.getRunSuspended(), waiting));
      default -> throw failure();
    };
  }

  private void heedAsked(Event event) {
    if (askedAt != event.getVersion()) {
      askedAt = event.getVersion();
      asked = new ArrayList<>();
    }
    asked.add(event.getApprovalRequested().getApproval());
  }

  private Reply completed(dev.clew.v1.Reply told) {
    // One that is very large travels with the checkpoint alone.
    Optional<Message> message =
        told.hasMessage()
            ? Optional.of(told.getMessage())
            : spoken.stream().filter(each -> each.getId().equals(told.getMessageId())).findFirst();
    return new Reply(
        Reply.Status.COMPLETED,
        told.getText(),
        told.getThreadId(),
        told.getThreadUid(),
        told.getRunId(),
        told.getVersion(),
        told.getMessageId(),
        message,
        told.getUsage(),
        told.getSteps(),
        List.of(),
        ByteString.EMPTY);
  }

  private Reply suspended(List<Approval> approvals) {
    return new Reply(
        Reply.Status.SUSPENDED,
        "",
        last.getThreadId(),
        last.getThreadUid(),
        last.getRunId(),
        last.getVersion(),
        "",
        Optional.empty(),
        Usage.getDefaultInstance(),
        0,
        approvals,
        last.getRunSuspended().getSnapshot());
  }

  /**
   * What the run waits for, also what its last event had no room for: it was asked within this
   * attempt, or else the server lists it.
   */
  private List<Approval> approvals(RunSuspended told, Function<String, List<Approval>> waiting) {
    if (told.getApprovalsCount() >= told.getApprovalCount()) {
      return told.getApprovalsList();
    }
    List<Approval> found = askedAt == last.getVersion() ? asked : List.of();
    if (found.size() < told.getApprovalCount() && !last.getThreadId().isEmpty()) {
      found =
          waiting.apply(last.getThreadId()).stream()
              .filter(each -> each.getRunId().equals(last.getRunId()))
              .toList();
    }
    return found.size() > told.getApprovalsCount() ? found : told.getApprovalsList();
  }

  private ClewException failure() {
    RunFailed failed = last.getRunFailed();
    Map<String, String> metadata = new HashMap<>();
    CallEnd.infoIn(failed.getStatus().getDetailsList())
        .map(ErrorInfo::getMetadataMap)
        .ifPresent(metadata::putAll);
    boolean cancelled = failed.getCode() == FailureCode.FAILURE_CODE_CANCELLED;
    if (cancelled) {
      metadata.put("run_id", last.getRunId());
    }
    Refusal refusal =
        new Refusal(
            cancelled ? "cancelled" : "run_failed",
            failed.getStatus().getMessage(),
            metadata,
            CallEnd.retryAfterIn(failed.getStatus().getDetailsList()));
    if (cancelled) {
      return new RunCancelledException(refusal);
    }
    String code = Words.of(failed.getCode(), "FAILURE_CODE_");
    return new RunFailedException(refusal, code, last.getRunId(), failed);
  }
}
