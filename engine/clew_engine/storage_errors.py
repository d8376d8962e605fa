"""The port's errors in the engine's words: one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew_engine.errors import (
    ApprovalAlreadyDecidedError,
    CheckpointNotFoundError,
    ClewError,
    DataCorruptError,
    LeaseLostError,
    RequestIdReusedError,
    StorageFullError,
    StorageUnavailableError,
    ThreadBusyError,
    VersionConflictError,
)
from clew_engine.incarnations import Deleted, deleted
from clew_storage import (
    ApprovalNotPending,
    CheckpointMissing,
    DataCorrupt,
    LeaseBusy,
    LeaseLost,
    RequestRecorded,
    StorageError,
    StorageFull,
    ThreadMissing,
    VersionConflict,
)
from clew_storage import ThreadKey as Key


def translated(error: StorageError, key: Key | None) -> ClewError:
    """What a caller is told of a storage error."""
    thread_id = key.thread_id if key else ""
    for kind in type(error).__mro__:
        if kind in _TABLE:
            return _TABLE[kind](error, thread_id)
    return StorageUnavailableError(str(error))


_TABLE: dict[type, Callable[[Any, str], ClewError]] = {
    VersionConflict: lambda error, thread_id: VersionConflictError(thread_id, error.expected, error.actual),
    # Said of a thread that was there when the call came.
    ThreadMissing: lambda _, thread_id: deleted(thread_id),
    Deleted: lambda error, thread_id: deleted(thread_id, error.uid, error.head),
    LeaseBusy: lambda _, thread_id: ThreadBusyError(thread_id, 0.0),
    LeaseLost: lambda _, thread_id: LeaseLostError(
        f"this server does not have the right to write to thread {thread_id!r} any more: it was not renewed in time, or another server "
        "has it; read the thread again",
        thread_id=thread_id,
    ),
    CheckpointMissing: lambda _, thread_id: CheckpointNotFoundError(thread_id, ""),
    ApprovalNotPending: lambda error, _: ApprovalAlreadyDecidedError(str(error), approval_id=error.approval_id),
    RequestRecorded: lambda *_: RequestIdReusedError(
        "the request id was recorded by another call meanwhile; ask again with it"
    ),
    StorageFull: lambda error, _: StorageFullError(f"{error}; free some room and try again"),
    DataCorrupt: lambda error, _: DataCorruptError(str(error)),
}
