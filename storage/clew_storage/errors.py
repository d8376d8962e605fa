"""What a storage method may raise. No driver's error crosses the port."""
# ruff: noqa: N818 - a refusal is named by what was found, as the engine's codes are

from __future__ import annotations


class StorageError(Exception):
    """The base of everything the port raises; `str(error)` is safe to show to a caller."""


class VersionConflict(StorageError):
    """The head is not at the version that a write was built on."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"the head is at version {actual}, not at {expected}")
        self.expected = expected
        self.actual = actual


class LeaseLost(StorageError):
    """The write's epoch is no longer the newest one of the thread, or its thread was deleted meanwhile."""


class LeaseBusy(StorageError):
    """The lease was not granted within the time that the caller was ready to wait."""


class ThreadMissing(StorageError):
    """There is no such thread (or no longer the same incarnation of it)."""


class ThreadExists(StorageError):
    """A copy's target, or a thread that was to be made, is there already."""


class RevisionConflict(StorageError):
    """The thread's info was changed since the caller read it."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"the thread's info is at revision {actual}, not at {expected}")
        self.expected = expected
        self.actual = actual


class CheckpointMissing(StorageError):
    """The thread has no checkpoint of that version."""


class RequestRecorded(StorageError):
    """A write with this request id was committed before; nothing was written now."""


class ApprovalNotPending(StorageError):
    """A decision names an approval that is not pending (decided, expired, voided or unknown)."""

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"approval {approval_id} is not pending")
        self.approval_id = approval_id


class StorageUnavailable(StorageError):
    """The database cannot be reached or has stopped accepting writes; a later call may succeed."""


class StorageAway(StorageUnavailable):
    """The database cannot be reached at all. The storage logs when that begins and when it is over, so that nobody else need."""


class StorageFull(StorageError):
    """The disk or the database's quota is full; nothing was written."""


class DataCorrupt(StorageError):
    """What was read is not what was written."""


class StorageRefused(StorageError):
    """The database cannot be opened: not a database, a directory, read-only, of a newer format, or in use."""


class StorageInUse(StorageRefused):
    """Another process owns the database file."""

    def __init__(self, path: str, pid: int | None) -> None:
        owner = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{path} is in use by {owner}; talk to that server instead (clew --target HOST:PORT …) or stop it first"
        )
        self.path = path
        self.pid = pid
