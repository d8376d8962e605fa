"""How a thread's record changes with what is written to it: the same on every backend."""

from __future__ import annotations

from msgspec.structs import replace

from clew_storage.errors import RevisionConflict, ThreadMissing
from clew_storage.records import InfoChange, ThreadInfo, ThreadRecord, Write

_EMPTY = ThreadInfo()


def after_write(before: ThreadRecord | None, write: Write) -> ThreadRecord:
    """The thread once the write is in it; None before makes it."""
    checkpoint = write.checkpoint
    if before is None:
        before = ThreadRecord(
            key=write.key,
            uid=write.uid,
            info=write.info or _EMPTY,
            head_version=0,
            head_status=None,
            epoch=0,
            created_at_ms=checkpoint.created_at_ms,
            updated_at_ms=checkpoint.created_at_ms,
        )
    elif write.info is not None:
        before = replace(before, info=_fill(before.info, write.info))
    return replace(
        before,
        head_version=checkpoint.version,
        head_status=checkpoint.status,
        epoch=max(before.epoch, write.epoch),
        updated_at_ms=checkpoint.created_at_ms,
    )


def _fill(info: ThreadInfo, given: ThreadInfo) -> ThreadInfo:
    """What was said of the thread stays; a write fills what is empty."""
    filled = replace(
        info,
        app=info.app or given.app,
        user_id=info.user_id or given.user_id,
        name=info.name or given.name,
        metadata=given.metadata if info.metadata == _EMPTY.metadata else info.metadata,
    )
    return info if filled == info else replace(filled, revision=info.revision + 1)


def after_change(
    before: ThreadRecord | None, change: InfoChange, *, create: ThreadRecord | None, now_ms: int
) -> ThreadRecord:
    """The thread once its info was changed. Raises `ThreadMissing` and `RevisionConflict` as the port says."""
    record = before or create
    if record is None:
        raise ThreadMissing("there is no such thread")
    actual = before.info.revision if before else 0
    if change.expected_revision is not None and change.expected_revision != actual:
        raise RevisionConflict(change.expected_revision, actual)
    info = replace(
        record.info,
        name=record.info.name if change.name is None else change.name,
        metadata=record.info.metadata if change.metadata is None else change.metadata,
        user_id=record.info.user_id if change.user_id is None else change.user_id,
        revision=actual + 1,
    )
    return replace(record, info=info, updated_at_ms=now_ms)
