package dev.clew;

import static java.util.Map.entry;

import com.google.rpc.ErrorInfo;
import dev.clew.errors.AppMismatchException;
import dev.clew.errors.AppNotFoundException;
import dev.clew.errors.ApprovalAlreadyDecidedException;
import dev.clew.errors.ApprovalExpiredException;
import dev.clew.errors.ApprovalNotFoundException;
import dev.clew.errors.ArgumentInvalidException;
import dev.clew.errors.CallNotPendingException;
import dev.clew.errors.CheckpointNotFoundException;
import dev.clew.errors.ClewException;
import dev.clew.errors.DataCorruptException;
import dev.clew.errors.DeadlineExceededException;
import dev.clew.errors.ExhaustedException;
import dev.clew.errors.IdInvalidException;
import dev.clew.errors.InternalException;
import dev.clew.errors.InvalidException;
import dev.clew.errors.LeaseLostException;
import dev.clew.errors.MessageNotFoundException;
import dev.clew.errors.NotFoundException;
import dev.clew.errors.PermissionDeniedException;
import dev.clew.errors.QuotaExceededException;
import dev.clew.errors.Refusal;
import dev.clew.errors.RequestIdReusedException;
import dev.clew.errors.ResumeInvalidException;
import dev.clew.errors.RunCancelledException;
import dev.clew.errors.RunNotFoundException;
import dev.clew.errors.StateInvalidException;
import dev.clew.errors.StateTooLargeException;
import dev.clew.errors.StorageFullException;
import dev.clew.errors.StorageUnavailableException;
import dev.clew.errors.StreamCutException;
import dev.clew.errors.ThreadBusyException;
import dev.clew.errors.ThreadInterruptedException;
import dev.clew.errors.ThreadNotFoundException;
import dev.clew.errors.ThreadSuspendedException;
import dev.clew.errors.UnauthenticatedException;
import dev.clew.errors.UnavailableException;
import dev.clew.errors.VersionConflictException;
import io.grpc.Status;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** From how a call ended to the exception that it stands for. */
final class Refusals {
  private static final Map<String, Function<Refusal, ClewException>> BY_CODE =
      Map.ofEntries(
          entry("thread_busy", ThreadBusyException::new),
          entry("version_conflict", VersionConflictException::new),
          entry("request_id_reused", RequestIdReusedException::new),
          entry("lease_lost", LeaseLostException::new),
          entry("thread_suspended", ThreadSuspendedException::new),
          entry("thread_interrupted", ThreadInterruptedException::new),
          entry("resume_invalid", ResumeInvalidException::new),
          entry("approval_already_decided", ApprovalAlreadyDecidedException::new),
          entry("approval_expired", ApprovalExpiredException::new),
          entry("call_not_pending", CallNotPendingException::new),
          entry("app_mismatch", AppMismatchException::new),
          entry("thread_not_found", ThreadNotFoundException::new),
          entry("checkpoint_not_found", CheckpointNotFoundException::new),
          entry("message_not_found", MessageNotFoundException::new),
          entry("approval_not_found", ApprovalNotFoundException::new),
          entry("run_not_found", RunNotFoundException::new),
          entry("app_not_found", AppNotFoundException::new),
          entry("cancelled", RunCancelledException::new),
          entry("id_invalid", IdInvalidException::new),
          entry("state_invalid", StateInvalidException::new),
          entry("argument_invalid", ArgumentInvalidException::new),
          entry("state_too_large", StateTooLargeException::new),
          entry("quota_exceeded", QuotaExceededException::new),
          entry("storage_full", StorageFullException::new),
          entry("storage_unavailable", StorageUnavailableException::new),
          entry("stream_cut", StreamCutException::new),
          entry("data_corrupt", DataCorruptException::new),
          entry("unauthenticated", UnauthenticatedException::new),
          entry("permission_denied", PermissionDeniedException::new),
          entry("internal", InternalException::new));

  /** What a status means where no reason comes with it, or one that this version does not know. */
  private static final Map<Status.Code, Function<Refusal, ClewException>> BY_STATUS =
      Map.ofEntries(
          entry(Status.Code.CANCELLED, RunCancelledException::new),
          entry(Status.Code.DATA_LOSS, DataCorruptException::new),
          entry(Status.Code.DEADLINE_EXCEEDED, DeadlineExceededException::new),
          entry(Status.Code.INTERNAL, InternalException::new),
          entry(Status.Code.INVALID_ARGUMENT, InvalidException::new),
          entry(Status.Code.NOT_FOUND, NotFoundException::new),
          entry(Status.Code.PERMISSION_DENIED, PermissionDeniedException::new),
          entry(Status.Code.RESOURCE_EXHAUSTED, ExhaustedException::new),
          entry(Status.Code.UNAUTHENTICATED, UnauthenticatedException::new),
          entry(Status.Code.UNAVAILABLE, UnavailableException::new));

  private static final String REPEAT =
      "what was asked may have happened: repeat it with the same request id";
  private static final String TLS =
      "see that the target is right, and that both sides speak TLS or neither";

  private Refusals() {}

  /**
   * The exception of a call to a target. What only the transport said of it is in the metadata,
   * under {@code transport}.
   *
   * @param reached whether there is a connection
   */
  static ClewException of(CallEnd end, String target, boolean reached) {
    Status status = end.status();
    Function<Refusal, ClewException> byStatus =
        BY_STATUS.getOrDefault(status.getCode(), ClewException::new);
    String said = Optional.ofNullable(status.getDescription()).orElse(status.getCode().name());
    ClewException made;
    if (end.info().isPresent()) {
      ErrorInfo info = end.info().get();
      String code = lower(info.getReason());
      Refusal refusal = new Refusal(code, said, info.getMetadataMap(), end.retryAfter());
      made = BY_CODE.getOrDefault(code, byStatus).apply(refusal);
    } else {
      String name = status.getCode().name();
      Map<String, String> metadata = Map.of("target", target, "status", name, "transport", said);
      String text = words(status.getCode(), target, reached);
      made = byStatus.apply(new Refusal(lower(name), text, metadata, end.retryAfter()));
    }
    made.initCause(status.getCause());
    return made;
  }

  /** What an argument is refused with before it is sent. */
  static ArgumentInvalidException argument(String field, String text) {
    return new ArgumentInvalidException(
        Refusal.of("argument_invalid", field + ": " + text, Map.of("field", field)));
  }

  /** What the transport's own words stand for: what happened, and what to do next. */
  private static String words(Status.Code code, String target, boolean reached) {
    return switch (code) {
      case CANCELLED -> "the call to " + target + " was cancelled before it ended; " + REPEAT;
      case DEADLINE_EXCEEDED ->
          reached
              ? target
                  + " did not finish the call within its time: it is busy, or stopping. A run that has started goes on; "
                  + REPEAT
                  + ", or give the call more time"
              : "no server answers at " + target + ", and the call's time is over; " + TLS;
      case UNAVAILABLE ->
          "no server answers at "
              + target
              + ", or the connection broke; "
              + REPEAT
              + ". Where it stays so, "
              + TLS;
      case UNKNOWN, INTERNAL ->
          "the connection to " + target + " broke in the middle of the call; " + REPEAT;
      case RESOURCE_EXHAUSTED ->
          "a message to or from "
              + target
              + " is larger than the transport takes, or something on the way has no room for it; send less at once";
      case UNIMPLEMENTED ->
          target
              + " does not know this call: it is a server of an older version, or none of Clew's";
      case UNAUTHENTICATED ->
          target + " asks for a credential, or does not accept this one; give the client a token";
      case PERMISSION_DENIED -> target + " does not allow this with the credential that was given";
      default -> target + " refused the call with " + code;
    };
  }

  private static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }
}
