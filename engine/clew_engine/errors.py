"""The tree of errors that a caller meets. Every class has one stable code; messages say what to do next.

ClewError
├─ ThreadBusyError, VersionConflictError, RequestIdReusedError, LeaseLostError          (try again, or read anew)
├─ ThreadSuspendedError, ThreadInterruptedError, ResumeInvalidError, ApprovalAlreadyDecidedError,
│  ApprovalExpiredError, CallNotPendingError, AppMismatchError                          (another call is due first)
├─ NotFoundError: Thread-, Checkpoint-, Message-, Approval-, Run-, AppNotFoundError
├─ InvalidError: IdInvalidError, StateInvalidError, ArgumentInvalidError
├─ ExhaustedError: StateTooLargeError, QuotaExceededError, StorageFullError
├─ UnavailableError: StorageUnavailableError, StreamCutError
├─ RunCancelledError, DataCorruptError, UnauthenticatedError, PermissionDeniedError
└─ RunFailedError                                                                       (a run ended as failed)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class ClewError(Exception):
    """The base of all of them. `metadata` holds every value that the message names, as text; `retry_after` is the seconds to wait before another try, where they are known."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, retry_after: float | None = None, **metadata: object) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = retry_after
        self.metadata: Mapping[str, str] = {name: str(value) for name, value in metadata.items()}


class ThreadBusyError(ClewError):
    """Another run holds the thread; nothing happened."""

    code = "thread_busy"

    def __init__(self, thread_id: str, waited_s: float) -> None:
        waited = f" (waited {waited_s:.1f} s)" if waited_s else ""
        super().__init__(
            f"another run holds thread {thread_id!r}{waited}; try again later, or send with on_busy=interrupt",
            retry_after=1.0,
            thread_id=thread_id,
        )


class VersionConflictError(ClewError):
    """The thread is not at the version that the caller expected."""

    code = "version_conflict"

    def __init__(self, thread_id: str, expected: int, actual: int) -> None:
        super().__init__(
            f"thread {thread_id!r} is at version {actual}, not at {expected}; read it again and decide anew",
            thread_id=thread_id,
            expected_version=expected,
            version=actual,
        )


class EtagConflictError(VersionConflictError):
    """The thread's info was changed since the caller read it."""

    def __init__(self, thread_id: str, etag: str) -> None:
        ClewError.__init__(
            self,
            f"thread {thread_id!r} was changed since it had the etag {etag}; read it again and decide anew",
            thread_id=thread_id,
            etag=etag,
        )


class TargetExistsError(VersionConflictError):
    """A copy's target is there already."""

    def __init__(self, thread_id: str) -> None:
        ClewError.__init__(
            self,
            f"thread {thread_id!r} exists; copy to another id, or delete it first",
            target_thread_id=thread_id,
        )


class ThreadExistsError(VersionConflictError):
    """A thread that is to be imported has an id that another one has here, or was written to since it was exported."""

    def __init__(self, thread_id: str) -> None:
        ClewError.__init__(
            self,
            f"thread {thread_id!r} exists here and is not as it is in the archive; delete it first, or import into another "
            "database. What was imported before it stays, and is skipped the next time",
            thread_id=thread_id,
        )


class MessageExistsError(VersionConflictError):
    """The thread has a message with that id already."""

    def __init__(self, thread_id: str, message_id: str) -> None:
        ClewError.__init__(
            self,
            f"thread {thread_id!r} has a message {message_id!r} already; change that one, or take another id",
            thread_id=thread_id,
            message_id=message_id,
        )


class RequestIdReusedError(ClewError):
    """The request id was used before with another body."""

    code = "request_id_reused"


class LeaseLostError(ClewError):
    """The run's right to write ran out or was taken over, and it wrote nothing more; or another stream has come as the same worker."""

    code = "lease_lost"


class ThreadSuspendedError(ClewError):
    """The thread waits for a person. `approval_ids` says for which answers."""

    code = "thread_suspended"

    def __init__(self, thread_id: str, approval_ids: tuple[str, ...]) -> None:
        super().__init__(
            f"thread {thread_id!r} waits for {len(approval_ids)} answer(s); approve, reject or decide first: "
            + ", ".join(approval_ids),
            thread_id=thread_id,
            approval_ids=",".join(approval_ids),
        )
        self.approval_ids = approval_ids


class ThreadNeededError(ThreadSuspendedError):
    """A run without a thread needs a person, and has nowhere to wait."""

    def __init__(self, app: str, asks: tuple[str, ...]) -> None:
        ClewError.__init__(
            self,
            f"the run needs an answer ({', '.join(asks)}), which an agent can wait for on a thread alone; nothing was kept: "
            f"send the message to a thread of {app!r}, and approve or reject there",
            app=app,
        )
        self.approval_ids = ()


class ThreadInterruptedError(ClewError):
    """The last run never finished: its process died."""

    code = "thread_interrupted"

    def __init__(self, thread_id: str, run_id: str) -> None:
        super().__init__(
            f"run {run_id} of thread {thread_id!r} was interrupted before it finished; "
            "retry continues it (finished tool calls are not run again), cancel gives it up",
            thread_id=thread_id,
            run_id=run_id,
        )


class ResumeInvalidError(ClewError):
    """There is nothing to retry or decide, or the decision does not fit."""

    code = "resume_invalid"


class ApprovalAlreadyDecidedError(ClewError):
    """Someone else's decision came first."""

    code = "approval_already_decided"


class ApprovalExpiredError(ClewError):
    """The approval's time was over; it counts as rejected."""

    code = "approval_expired"


class CallNotPendingError(ClewError):
    """A result came for a call that is not waiting for one."""

    code = "call_not_pending"

    def __init__(self, call: str) -> None:
        super().__init__(f"nobody waits for the outcome of call {call} (any more); drop it", tool_call_id=call)


class AppMismatchError(ClewError):
    """A thread belongs to the app of its first send."""

    code = "app_mismatch"

    def __init__(self, thread_id: str, app: str, asked: str) -> None:
        super().__init__(
            f"thread {thread_id!r} belongs to app {app!r}, not to {asked!r}; use that app or another thread id",
            thread_id=thread_id,
            app=app,
            asked_app=asked,
        )


class NotFoundError(ClewError):
    """What was named is not there (or not the caller's)."""


class ThreadNotFoundError(NotFoundError):
    """No such thread."""

    code = "thread_not_found"

    def __init__(self, thread_id: str, message: str = "", **metadata: object) -> None:
        message = message or f"there is no thread {thread_id!r}; the first send to an id makes the thread"
        super().__init__(message, retry_after=None, thread_id=thread_id, **metadata)


class CheckpointNotFoundError(NotFoundError):
    """The thread has no such checkpoint."""

    code = "checkpoint_not_found"

    def __init__(self, thread_id: str, checkpoint_id: str, message: str = "") -> None:
        super().__init__(
            message or f"thread {thread_id!r} has no checkpoint {checkpoint_id!r}; take an id from its history",
            thread_id=thread_id,
            checkpoint_id=checkpoint_id,
        )


class MessageNotFoundError(NotFoundError):
    """The thread has no such message."""

    code = "message_not_found"


class ApprovalNotFoundError(NotFoundError):
    """No such approval."""

    code = "approval_not_found"

    def __init__(self, approval_id: str) -> None:
        super().__init__(
            f"there is no approval {approval_id!r} here; list the approvals that wait", approval_id=approval_id
        )


class RunNotFoundError(NotFoundError):
    """The thread has no such run."""

    code = "run_not_found"


class AppNotFoundError(NotFoundError):
    """No such app is served here."""

    code = "app_not_found"

    def __init__(self, app: str, served: tuple[str, ...]) -> None:
        super().__init__(f"no app {app!r} is served here; there are: {', '.join(served) or 'none'}", app=app)


class InvalidError(ClewError):
    """The request breaks a rule; `metadata["field"]` names the field."""

    def __init__(self, field: str, message: str, **metadata: object) -> None:
        super().__init__(f"{field}: {message}", retry_after=None, field=field, **metadata)
        self.field = field


class IdInvalidError(InvalidError):
    """An id that is not one URL path segment of 1 to 128 characters that need no escaping."""

    code = "id_invalid"


class StateInvalidError(InvalidError):
    """State that is not a JSON object of values that every backend keeps."""

    code = "state_invalid"


class ArgumentInvalidError(InvalidError):
    """Any other field that breaks its rule."""

    code = "argument_invalid"


class ExhaustedError(ClewError):
    """Too large, too many, or no room."""


class StateTooLargeError(ExhaustedError):
    """State or a message over its limit; nothing was written."""

    code = "state_too_large"

    def __init__(self, what: str, size: int, limit: int, field: str) -> None:
        super().__init__(
            f"{what} would be {size} bytes, and {limit} is the most; keep large data elsewhere and store a reference",
            field=field,
            size=size,
            limit=limit,
        )


class QuotaExceededError(ExhaustedError):
    """The tenant has used up what it may use."""

    code = "quota_exceeded"


class StorageFullError(ExhaustedError):
    """No room on the disk; nothing was written, reads go on."""

    code = "storage_full"


class UnavailableError(ClewError):
    """It may work a little later."""


class StorageUnavailableError(UnavailableError):
    """The database cannot be reached or refuses writes."""

    code = "storage_unavailable"


class StreamCutError(UnavailableError):
    """The stream was ended by the server (drain, or a reader that did not keep up); watch after `version`. `what` says it for what is no thread."""

    code = "stream_cut"

    def __init__(self, version: int, reason: str, what: str = "") -> None:
        super().__init__(
            what
            or f"the stream was cut at version {version}: {reason}; the run goes on, watch the thread after that version",
            version=version,
        )
        self.version = version


class RunCancelledError(ClewError):
    """The run was cancelled, and saved; retry continues it. Not to be confused with asyncio.CancelledError."""

    code = "cancelled"


class DataCorruptError(ClewError):
    """What was read is not what was written."""

    code = "data_corrupt"


class UnauthenticatedError(ClewError):
    """No valid credential."""

    code = "unauthenticated"


class PermissionDeniedError(ClewError):
    """The credential does not allow it."""

    code = "permission_denied"


class RunFailedError(ClewError):
    """The run ended as failed; `failure_code` says why, `retryable` whether the same may work later. `retry` continues it.

    A workflow that ran without a thread has its `snapshot` here, with which `resume` continues it.
    """

    code = "run_failed"

    def __init__(self, failure_code: str, message: str, *, retryable: bool, run_id: str = "") -> None:
        super().__init__(message, failure_code=failure_code, run_id=run_id)
        self.failure_code = failure_code
        self.retryable = retryable
        self.run_id = run_id
        self.snapshot: dict[str, Any] | None = None


def error_classes() -> dict[str, type[ClewError]]:
    """Every code with its class."""
    found: dict[str, type[ClewError]] = {}
    waiting = [ClewError]
    while waiting:
        for child in waiting.pop().__subclasses__():
            waiting.append(child)
            if child.code != ClewError.code:
                found.setdefault(child.code, child)
    return found


def expect_version(thread_id: str, expected: int | None, actual: int) -> None:
    """Raises VersionConflictError when a thread is not at the version that a caller expects (None: any)."""
    if expected is not None and expected != actual:
        raise VersionConflictError(thread_id, expected, actual)
