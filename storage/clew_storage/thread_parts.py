"""What a thread consists of, on whatever backend: parts in one order, each a frozen record."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from clew_storage.errors import DataCorrupt
from clew_storage.lines import Line
from clew_storage.records import ApprovalRecord, CheckpointRecord, MessageRecord, RequestRecord, ThreadRecord
from clew_storage.state_changes import Delta


class ThreadPart(Struct, frozen=True):
    """The thread itself. `record.epoch` is 0, for epochs belong to a database; `cancel` is the (run, attempt) to be cancelled.

    `oldest` is where the log begins once it was trimmed, or 0.
    """

    record: ThreadRecord
    line: Line
    cancel: tuple[int, int] | None
    oldest: int = 0


class CheckpointPart(Struct, frozen=True):
    """A row of the log with what it wrote: its messages in the order given, and what it changed in the state."""

    checkpoint: CheckpointRecord
    messages: tuple[MessageRecord, ...] = ()
    change: Delta | None = None


# In this order: the thread, messages of versions that were trimmed by version and position, checkpoints by version, approvals as they
# were asked, requests by hash.
Part: TypeAlias = ThreadPart | MessageRecord | CheckpointPart | ApprovalRecord | RequestRecord
_ORDER = (ThreadPart, MessageRecord, CheckpointPart, ApprovalRecord, RequestRecord)


def in_order(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts as they come. Raises `DataCorrupt` where they are not one whole thread in its order."""
    head: ThreadPart | None = None
    stage = version = 0
    for part in parts:
        place = _ORDER.index(type(part))
        if (head is None) != (place == 0) or place < stage:
            raise DataCorrupt(f"a part of the kind {type(part).__name__} is out of its place")
        stage = place
        if isinstance(part, ThreadPart):
            head = part
        elif isinstance(part, MessageRecord) and head is not None and part.version >= head.oldest:
            raise DataCorrupt(f"message {part.id} was not trimmed, and stands without its checkpoint")
        elif isinstance(part, CheckpointPart):
            if part.checkpoint.version <= version:
                raise DataCorrupt(f"checkpoint {part.checkpoint.version} comes after {version}")
            version = part.checkpoint.version
        elif isinstance(part, ApprovalRecord) and head is not None and part.key != head.record.key:
            raise DataCorrupt(f"approval {part.id} belongs to another thread")
        yield part
    if head is None or head.record.head_version != version or (head.line[-1][1] if head.line else 0) != version:
        raise DataCorrupt("the newest checkpoint is not the thread's head")


async def is_same_thread(parts: Iterable[Part], stored: AsyncIterable[Part]) -> bool:
    """Whether both are the same thread with the same content. Requests do not count: each database forgets them in its own time."""
    expected = (part for part in parts if not isinstance(part, RequestRecord))
    async for part in stored:
        if not isinstance(part, RequestRecord) and part != next(expected, None):
            return False
    return next(expected, None) is None
