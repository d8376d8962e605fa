/**
 * The tree of errors that a caller meets: one class a code. A program reads `code` and `metadata`, a person the message.
 *
 * ClewError
 * ├─ ThreadBusyError, VersionConflictError, RequestIdReusedError, LeaseLostError        (try again, or read anew)
 * ├─ ThreadSuspendedError, ThreadInterruptedError, ResumeInvalidError, ApprovalAlreadyDecidedError,
 * │  ApprovalExpiredError, CallNotPendingError, AppMismatchError                        (another call is due first)
 * ├─ NotFoundError: Thread-, Checkpoint-, Message-, Approval-, Run-, AppNotFoundError
 * ├─ InvalidError: IdInvalidError, StateInvalidError, ArgumentInvalidError
 * ├─ ExhaustedError: StateTooLargeError, QuotaExceededError, StorageFullError
 * ├─ UnavailableError: StorageUnavailableError, StreamCutError
 * ├─ DataCorruptError, UnauthenticatedError, PermissionDeniedError, InternalError
 * ├─ DeadlineExceededError                                                              (the call's own timeout)
 * ├─ RunCancelledError                                                                  (a run was cancelled, and saved)
 * └─ RunFailedError                                                                     (a run ended as failed)
 */

import type { Usage } from "./gen/clew/v1/message_pb.js";

/** What is known of an error beside its message. */
export interface ErrorDetails {
  /** The code, where it is not that of the class: a reason that this version of the client does not know. */
  code?: string | undefined;
  /** Every value that the message names. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds to wait before another try, where the server knows them. */
  retryAfterMs?: number | undefined;
  /** What the transport threw. */
  cause?: unknown;
}

/** The base of all errors of this client. */
export class ClewError extends Error {
  /** The code of the class. */
  static readonly CODE: string = "unknown";
  /** A stable word, such as `thread_busy`. */
  readonly code: string;
  /** Every value that the message names, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds to wait before another try, where the server knows them. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code ?? new.target.CODE;
    this.metadata = { ...details.metadata };
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The approvals that the thread waits for, where the error is about them. */
  get approvalIds(): string[] {
    return (this.metadata["approval_ids"] ?? "").split(",").filter((id) => id !== "");
  }
}

/** Another run or write holds the thread; nothing happened. */
export class ThreadBusyError extends ClewError {
  static override readonly CODE: string = "thread_busy";
}

/** The thread is not as the caller expected it; read it again and decide anew. */
export class VersionConflictError extends ClewError {
  static override readonly CODE: string = "version_conflict";
}

/** The request id was used before for a request with another content. */
export class RequestIdReusedError extends ClewError {
  static override readonly CODE: string = "request_id_reused";
}

/** Another server took the thread over; what had been acknowledged is kept. */
export class LeaseLostError extends ClewError {
  static override readonly CODE: string = "lease_lost";
}

/** The thread waits for people: approve, reject or decide first. */
export class ThreadSuspendedError extends ClewError {
  static override readonly CODE: string = "thread_suspended";
}

/** The thread's last run ended without a word, as in a crash: `retry` continues it. */
export class ThreadInterruptedError extends ClewError {
  static override readonly CODE: string = "thread_interrupted";
}

/** There is nothing here that the call could continue. */
export class ResumeInvalidError extends ClewError {
  static override readonly CODE: string = "resume_invalid";
}

/** Someone else decided first. */
export class ApprovalAlreadyDecidedError extends ClewError {
  static override readonly CODE: string = "approval_already_decided";
}

/** The approval's time was over; it counts as rejected. */
export class ApprovalExpiredError extends ClewError {
  static override readonly CODE: string = "approval_expired";
}

/** A result came for a call that does not wait for one. */
export class CallNotPendingError extends ClewError {
  static override readonly CODE: string = "call_not_pending";
}

/** The thread belongs to another app, that of its first send. */
export class AppMismatchError extends ClewError {
  static override readonly CODE: string = "app_mismatch";
}

/** What was named is not there, or not the caller's. */
export class NotFoundError extends ClewError {
  static override readonly CODE: string = "not_found";
}

/** No such thread, or it was deleted meanwhile. */
export class ThreadNotFoundError extends NotFoundError {
  static override readonly CODE: string = "thread_not_found";
}

/** The thread has no such checkpoint. */
export class CheckpointNotFoundError extends NotFoundError {
  static override readonly CODE: string = "checkpoint_not_found";
}

/** The thread has no such message on its present line. */
export class MessageNotFoundError extends NotFoundError {
  static override readonly CODE: string = "message_not_found";
}

/** No such approval, or it belongs to another thread. */
export class ApprovalNotFoundError extends NotFoundError {
  static override readonly CODE: string = "approval_not_found";
}

/** The thread has no such run, or a newer one. */
export class RunNotFoundError extends NotFoundError {
  static override readonly CODE: string = "run_not_found";
}

/** The server serves no such app. */
export class AppNotFoundError extends NotFoundError {
  static override readonly CODE: string = "app_not_found";
}

/** The request breaks a rule, and never succeeds as it is. */
export class InvalidError extends ClewError {
  static override readonly CODE: string = "invalid_argument";

  /** The field that breaks it; empty where that is not known. */
  get field(): string {
    return this.metadata["field"] ?? "";
  }
}

/** An id breaks the rule for ids. */
export class IdInvalidError extends InvalidError {
  static override readonly CODE: string = "id_invalid";
}

/** State, or another JSON value, is not acceptable. */
export class StateInvalidError extends InvalidError {
  static override readonly CODE: string = "state_invalid";
}

/** Another field is missing or out of range. */
export class ArgumentInvalidError extends InvalidError {
  static override readonly CODE: string = "argument_invalid";
}

/** Too large, too many, or no room. */
export class ExhaustedError extends ClewError {
  static override readonly CODE: string = "resource_exhausted";
}

/** State or a message over its limit. */
export class StateTooLargeError extends ExhaustedError {
  static override readonly CODE: string = "state_too_large";
}

/** A quota of the caller is used up. */
export class QuotaExceededError extends ExhaustedError {
  static override readonly CODE: string = "quota_exceeded";
}

/** The database has no room; reading still works. */
export class StorageFullError extends ExhaustedError {
  static override readonly CODE: string = "storage_full";
}

/** The server cannot be reached, or not just now. What was asked may have happened: repeat it with the same request id. */
export class UnavailableError extends ClewError {
  static override readonly CODE: string = "unavailable";
}

/** The server's database cannot be reached, or does not accept writes. */
export class StorageUnavailableError extends UnavailableError {
  static override readonly CODE: string = "storage_unavailable";
}

/** The server ended a stream that was in good order, and it could not be joined again. */
export class StreamCutError extends UnavailableError {
  static override readonly CODE: string = "stream_cut";
}

/** What was read is not what was written. */
export class DataCorruptError extends ClewError {
  static override readonly CODE: string = "data_corrupt";
}

/** No credential, or not a valid one. */
export class UnauthenticatedError extends ClewError {
  static override readonly CODE: string = "unauthenticated";
}

/** The credential does not allow this. */
export class PermissionDeniedError extends ClewError {
  static override readonly CODE: string = "permission_denied";
}

/** Something that was not foreseen; `metadata.incident_id` finds its cause in the server's log. */
export class InternalError extends ClewError {
  static override readonly CODE: string = "internal";
}

/** The call's timeout was over. What was asked may have happened, and a run that has started goes on. */
export class DeadlineExceededError extends ClewError {
  static override readonly CODE: string = "deadline_exceeded";
}

/** The run was cancelled, and saved; `retry` continues it. */
export class RunCancelledError extends ClewError {
  static override readonly CODE: string = "cancelled";
}

/** What is known of a run that failed. */
export interface FailureDetails extends ErrorDetails {
  /** Why: `model_unavailable`, `limit_exceeded`, … */
  failureCode: string;
  /** Whether `retry` may succeed without anything else being changed. */
  retryable: boolean;
  /** The run. */
  runId: string;
  /** What its models used in all its attempts so far. */
  usage?: Usage | undefined;
  /** What continues a run without a thread; empty for one on a thread. */
  snapshot?: Uint8Array | undefined;
}

/** The run ended as failed, and is saved. */
export class RunFailedError extends ClewError {
  static override readonly CODE: string = "run_failed";
  /** Why: `model_unavailable`, `limit_exceeded`, … */
  readonly failureCode: string;
  /** Whether `retry` may succeed without anything else being changed. */
  readonly retryable: boolean;
  /** The run. */
  readonly runId: string;
  /** What its models used in all its attempts so far. */
  readonly usage: Usage | undefined;
  /** What continues a run without a thread; empty for one on a thread. */
  readonly snapshot: Uint8Array;

  constructor(message: string, details: FailureDetails) {
    super(message, details);
    this.failureCode = details.failureCode;
    this.retryable = details.retryable;
    this.runId = details.runId;
    this.usage = details.usage;
    this.snapshot = details.snapshot ?? new Uint8Array();
  }
}
