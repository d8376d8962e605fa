package dev.clew;

import com.google.protobuf.ByteString;
import dev.clew.v1.Approval;
import dev.clew.v1.Message;
import dev.clew.v1.Usage;
import java.util.List;
import java.util.Optional;

/**
 * What an attempt came to.
 *
 * @param status whether the run is complete, or waits for decisions
 * @param text the text parts of the final message, joined; empty where there is none
 * @param threadId the thread; empty for a run without one
 * @param threadUid its incarnation
 * @param runId the run
 * @param version the version of the checkpoint that ended the attempt
 * @param messageId the id of the final message; empty where there is none
 * @param message the final message; empty where there is none
 * @param usage what the run's models used in all its attempts, in tokens; nothing while it waits
 * @param steps steps of the run, over all its attempts; 0 while it waits
 * @param approvals what the run waits for
 * @param snapshot what continues a run without a thread that waits; else empty
 */
public record Reply(
    Status status,
    String text,
    String threadId,
    String threadUid,
    String runId,
    long version,
    String messageId,
    Optional<Message> message,
    Usage usage,
    int steps,
    List<Approval> approvals,
    ByteString snapshot) {
  /** How the run stands. */
  public enum Status {
    /** It came to its end. */
    COMPLETED,
    /** It waits for decisions. */
    SUSPENDED
  }

  /** Keeps a copy of the list. */
  public Reply {
    approvals = List.copyOf(approvals);
  }
}
