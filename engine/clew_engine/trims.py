"""How much of a thread's log may be trimmed, and what must be told before it is."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.checkpoints import Start, decode_body, encode_body
from clew_engine.started_once import starts_elsewhere
from clew_storage import CheckpointRedaction, Head, Source, ThreadKey, Trim
from clew_storage.lines import Line, contains, since

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 200
# So many checkpoints at most go in one transaction.
_STEP = 1000


async def oldest_kept(storage: Storage, head: Head, keep_last: int) -> tuple[int, int]:
    """The oldest version to keep, and how many checkpoints of the line are below it; 0 and 0 where there are no more than are kept.

    It is the `keep_last`-th of the line, or older where an approval is pending that was asked before, or where it lies in a step of which results are
    recorded before it: who goes on from there, by a retry or after a rewind, must find them.
    """
    line = since(head.line, head.oldest_version)
    oldest = _from_the_end(line, keep_last)
    if not oldest:
        return 0, 0
    asked = [each.version for each in head.pending if contains(line, each.version)]
    oldest = await _begun_at(storage, head.thread.key, min([oldest, *asked]))
    count = _length(line) - _length(since(line, oldest))
    return (oldest, count) if count else (0, 0)


async def trim(storage: Storage, head: Head, oldest: int) -> bool:
    """Let the log begin there, a part at a time; False where the thread is in use or was written to since, and perhaps less was trimmed."""
    thread, line = head.thread, since(head.line, head.oldest_version)
    for part in _steps(line, oldest):
        told = await _redactions(storage, head, part)
        if not await storage.backend.retention.trim_thread(
            Trim(thread.key, thread.uid, thread.head_version, part, told)
        ):
            return False
    return True


async def _begun_at(storage: Storage, key: ThreadKey, oldest: int) -> int:
    """The oldest that has records of the step that `oldest` is in; `oldest` itself where none is before it."""
    record = await storage.backend.threads.get_checkpoint(key, oldest)
    before = oldest
    while record is not None and record.source is not Source.INPUT:
        page = await storage.backend.threads.list_checkpoints(key, before_version=before, limit=_PAGE)
        for each in page:
            if each.step != record.step or each.source is Source.INPUT:
                return oldest
            if decode_body(each.body).memos:
                oldest = each.version
            before = each.version
        if len(page) < _PAGE:
            break
    return oldest


async def _redactions(storage: Storage, head: Head, oldest: int) -> tuple[CheckpointRedaction, ...]:
    """What was started `once` on lines that go is told by the forks that left them: a rewind to before it must still ask a person."""
    forks, starts = await starts_elsewhere(storage, head, oldest)
    if not starts:
        return ()
    versions = [fork.version for fork in forks]
    told: dict[int, set[Start]] = {}
    for start in starts:
        # Versions that are not on the line lie before a fork of it.
        told.setdefault(bisect_right(versions, start[0]), set()).add(start)
    redactions = []
    for place, found in told.items():
        fork = forks[place]
        body = decode_body(fork.body)
        left_behind = tuple(sorted(found.union(body.left_behind)))
        redactions.append(CheckpointRedaction(fork.version, encode_body(replace(body, left_behind=left_behind))))
    return tuple(redactions)


def _from_the_end(line: Line, count: int) -> int:
    """The version with which the last `count` of the line begin; 0 where it has no more than that."""
    if _length(line) <= count:
        return 0
    for first, last in reversed(line):
        if count <= last - first + 1:
            return last - count + 1
        count -= last - first + 1
    return 0


def _steps(line: Line, oldest: int) -> list[int]:
    """The versions of the line to trim to, one after the other, of which the last is `oldest`."""
    left = _length(line) - _length(since(line, oldest))
    whole = _length(line)
    steps = [_from_the_end(line, whole - gone) for gone in range(_STEP, left, _STEP)]
    return [*steps, oldest]


def _length(line: Line) -> int:
    return sum(last - first + 1 for first, last in line)
