package dev.clew.errors;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The base of everything that the client throws: one class a code. A program reads {@link #code()}
 * and {@link #metadata()}, a person the message. An exception of this very class has a code that
 * this version does not know.
 *
 * <ul>
 *   <li>try again, or read anew: {@link ThreadBusyException}, {@link VersionConflictException},
 *       {@link RequestIdReusedException}, {@link LeaseLostException}
 *   <li>another call is due first: {@link ThreadSuspendedException}, {@link
 *       ThreadInterruptedException}, {@link ResumeInvalidException}, {@link
 *       ApprovalAlreadyDecidedException}, {@link ApprovalExpiredException}, {@link
 *       CallNotPendingException}, {@link AppMismatchException}
 *   <li>{@link NotFoundException}: of a thread, checkpoint, message, approval, run or app
 *   <li>{@link InvalidException}: an id, a state or another argument
 *   <li>{@link ExhaustedException}: a state too large, a quota, the server's storage
 *   <li>{@link UnavailableException}: the server, its storage, a stream that was cut
 *   <li>{@link DataCorruptException}, {@link UnauthenticatedException}, {@link
 *       PermissionDeniedException}, {@link InternalException}
 *   <li>{@link DeadlineExceededException}: the call's own time
 *   <li>{@link RunFailedException}, {@link RunCancelledException}: a run ended so, and is saved
 *   <li>{@link StreamLeftException}: the stream was left while it was read
 * </ul>
 */
public class ClewException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;
  private final HashMap<String, String> metadata;
  private final Duration retryAfter;

  /** Stands for a refusal. */
  public ClewException(Refusal refusal) {
    super(refusal.message());
    this.code = refusal.code();
    this.metadata = new HashMap<>(refusal.metadata());
    this.retryAfter = refusal.retryAfter().orElse(null);
  }

  /** A stable word, such as {@code thread_busy}. */
  public final String code() {
    return code;
  }

  /** Every value that the message mentions. */
  public final Map<String, String> metadata() {
    return Collections.unmodifiableMap(metadata);
  }

  /** How long to wait before another try, where the server knows it. */
  public final Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** The approvals that the thread waits for, where the error is about them. */
  public final List<String> approvalIds() {
    return Arrays.stream(metadata().getOrDefault("approval_ids", "").split(","))
        .filter(id -> !id.isEmpty())
        .toList();
  }
}
