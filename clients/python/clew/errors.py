"""The tree of errors that a caller meets: one class a code. A program reads `code` and `metadata`, a person the message.

ClewError
├─ ThreadBusyError, VersionConflictError, RequestIdReusedError, LeaseLostError        (try again, or read anew)
├─ ThreadSuspendedError, ThreadInterruptedError, ResumeInvalidError, ApprovalAlreadyDecidedError,
│  ApprovalExpiredError, CallNotPendingError, AppMismatchError                        (another call is due first)
├─ NotFoundError: Thread-, Checkpoint-, Message-, Approval-, Run-, AppNotFoundError
├─ InvalidError: IdInvalidError, StateInvalidError, ArgumentInvalidError
├─ ExhaustedError: StateTooLargeError, QuotaExceededError, StorageFullError
├─ UnavailableError: StorageUnavailableError, StreamCutError
├─ DataCorruptError, UnauthenticatedError, PermissionDeniedError, InternalError
├─ DeadlineExceededError                                                              (the call's own timeout)
├─ RunCancelledError                                                                  (a run was cancelled, and saved)
└─ RunFailedError                                                                     (a run ended as failed)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from clew.usage import Usage


class ClewError(Exception):
    """The base of all of them.

    `code` is a stable word, `metadata` holds every value that the message names, `retry_after` is the seconds to wait before another try, where
    the server knows them.
    """

    CODE: ClassVar[str] = "unknown"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.CODE
        self.metadata: Mapping[str, str] = dict(metadata or {})
        self.retry_after = retry_after

    @property
    def approval_ids(self) -> tuple[str, ...]:
        """The approvals that the thread waits for, where the error is about them."""
        return tuple(filter(None, self.metadata.get("approval_ids", "").split(",")))


class ThreadBusyError(ClewError):
    """Another run or write holds the thread; nothing happened."""

    CODE = "thread_busy"


class VersionConflictError(ClewError):
    """The thread is not as the caller expected it; read it again and decide anew."""

    CODE = "version_conflict"


class RequestIdReusedError(ClewError):
    """The request id was used before for a request with another content."""

    CODE = "request_id_reused"


class LeaseLostError(ClewError):
    """Another server took the thread over; what had been acknowledged is kept."""

    CODE = "lease_lost"


class ThreadSuspendedError(ClewError):
    """The thread waits for people: approve, reject or decide first."""

    CODE = "thread_suspended"


class ThreadInterruptedError(ClewError):
    """The thread's last run ended without a word, as in a crash: `retry` continues it."""

    CODE = "thread_interrupted"


class ResumeInvalidError(ClewError):
    """There is nothing here that the call could continue."""

    CODE = "resume_invalid"


class ApprovalAlreadyDecidedError(ClewError):
    """Someone else decided first."""

    CODE = "approval_already_decided"


class ApprovalExpiredError(ClewError):
    """The approval's time was over; it counts as rejected."""

    CODE = "approval_expired"


class CallNotPendingError(ClewError):
    """A result came for a call that does not wait for one."""

    CODE = "call_not_pending"


class AppMismatchError(ClewError):
    """The thread belongs to another app, that of its first send."""

    CODE = "app_mismatch"


class NotFoundError(ClewError):
    """What was named is not there, or not the caller's."""

    CODE = "not_found"


class ThreadNotFoundError(NotFoundError):
    """No such thread, or it was deleted meanwhile."""

    CODE = "thread_not_found"


class CheckpointNotFoundError(NotFoundError):
    """The thread has no such checkpoint."""

    CODE = "checkpoint_not_found"


class MessageNotFoundError(NotFoundError):
    """The thread has no such message on its present line."""

    CODE = "message_not_found"


class ApprovalNotFoundError(NotFoundError):
    """No such approval, or it belongs to another thread."""

    CODE = "approval_not_found"


class RunNotFoundError(NotFoundError):
    """The thread has no such run, or a newer one."""

    CODE = "run_not_found"


class AppNotFoundError(NotFoundError):
    """The server serves no such app."""

    CODE = "app_not_found"


class InvalidError(ClewError):
    """The request breaks a rule, and never succeeds as it is."""

    CODE = "invalid_argument"

    @property
    def field(self) -> str:
        """The field that breaks it; empty where that is not known."""
        return self.metadata.get("field", "")


class IdInvalidError(InvalidError):
    """An id breaks the rule for ids."""

    CODE = "id_invalid"


class StateInvalidError(InvalidError):
    """State, or another JSON value, is not acceptable."""

    CODE = "state_invalid"


class ArgumentInvalidError(InvalidError):
    """Another field is missing or out of range."""

    CODE = "argument_invalid"


class ExhaustedError(ClewError):
    """Too large, too many, or no room."""

    CODE = "resource_exhausted"


class StateTooLargeError(ExhaustedError):
    """State or a message over its limit."""

    CODE = "state_too_large"


class QuotaExceededError(ExhaustedError):
    """A quota of the caller is used up."""

    CODE = "quota_exceeded"


class StorageFullError(ExhaustedError):
    """The database has no room; reading still works."""

    CODE = "storage_full"


class UnavailableError(ClewError):
    """The server cannot be reached, or not just now. What was asked may have happened: repeat it with the same request id."""

    CODE = "unavailable"


class StorageUnavailableError(UnavailableError):
    """The server's database cannot be reached, or does not accept writes."""

    CODE = "storage_unavailable"


class StreamCutError(UnavailableError):
    """The server ended a stream that was in good order, and it could not be joined again."""

    CODE = "stream_cut"


class DataCorruptError(ClewError):
    """What was read is not what was written."""

    CODE = "data_corrupt"


class UnauthenticatedError(ClewError):
    """No credential, or not a valid one."""

    CODE = "unauthenticated"


class PermissionDeniedError(ClewError):
    """The credential does not allow this."""

    CODE = "permission_denied"


class InternalError(ClewError):
    """Something that was not foreseen; `metadata["incident_id"]` finds its cause in the server's log."""

    CODE = "internal"


class DeadlineExceededError(ClewError):
    """The call's timeout was over. What was asked may have happened, and a run that has started goes on."""

    CODE = "deadline_exceeded"


class RunCancelledError(ClewError):
    """The run was cancelled, and saved; `retry` continues it. Not to be confused with asyncio.CancelledError."""

    CODE = "cancelled"


class RunFailedError(ClewError):
    """The run ended as failed, and is saved.

    `failure_code` says why (`model_unavailable`, `limit_exceeded`, …), `retryable` whether `retry` may succeed without anything else being changed.
    A run without a thread has its `snapshot` here.
    """

    CODE = "run_failed"

    def __init__(
        self,
        message: str,
        *,
        failure_code: str = "",
        retryable: bool = False,
        run_id: str = "",
        usage: Usage | None = None,
        snapshot: bytes = b"",
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, metadata=metadata, retry_after=retry_after)
        self.failure_code = failure_code
        self.retryable = retryable
        self.run_id = run_id
        self.usage = usage
        self.snapshot = snapshot


def error_classes() -> dict[str, type[ClewError]]:
    """Every code with its class."""
    found: dict[str, type[ClewError]] = {}
    waiting: list[type[ClewError]] = [ClewError]
    while waiting:
        each = waiting.pop()
        found[each.CODE] = each
        waiting += each.__subclasses__()
    return found
