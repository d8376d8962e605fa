"""Which `once` calls and steps were started on a thread, whatever line that was on: who goes back before one must be told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from clew_engine.checkpoints import Start, decode_body, step_id
from clew_storage import CheckpointRecord, Head, Source, ThreadKey
from clew_storage.lines import contains, truncate

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 500
_BYTES = 1 << 20


async def started_after(storage: Storage, key: ThreadKey, uid: str, version: int) -> frozenset[str]:
    """The ids of those that were started after a version."""
    starts = await _starts(storage, key, uid, version, None)
    return frozenset(each for at, each in starts if at > version)


async def left_behind(storage: Storage, head: Head, base_version: int) -> tuple[Start, ...]:
    """Those that a copy of the line up to `base_version` has no rows of: they are on lines that were abandoned, or come later.

    A version after the base is the copy's own: what came later in the source counts as started just after the base.
    """
    key, uid = head.thread.key, head.thread.uid
    found: list[Start] = []
    for first, last in await _gaps(storage, head, base_version):
        found += await _starts(storage, key, uid, first - 1, last)
    return tuple(sorted({(min(at, base_version + 1), each) for at, each in found}))


async def _gaps(storage: Storage, head: Head, base_version: int) -> list[tuple[int, int]]:
    """The stretches of versions that are not on the line up to the base, first and last of each."""
    newest = head.thread.head_version
    gaps = [(base_version + 1, newest)] if newest > base_version else []
    if contains(head.line, base_version):
        line = truncate(head.line, base_version)
        return gaps + [(last + 1, first - 1) for (_, last), (first, _) in pairwise(line)]
    below: int | None = None
    while True:
        page = await storage.backend.threads.list_checkpoints(
            head.thread.key, before_version=below, limit=_PAGE, at_version=base_version
        )
        gaps += [(each.parent_version + 1, each.version - 1) for each in page if each.parent_version < each.version - 1]
        if len(page) < _PAGE:
            return gaps
        below = page[-1].version


async def _starts(storage: Storage, key: ThreadKey, uid: str, version: int, last: int | None) -> list[Start]:
    """What the log says after a version, up to the last one."""
    found: list[Start] = []
    while True:
        entries = await storage.backend.threads.read_log(key, uid, after_version=version, limit=_PAGE, max_bytes=_BYTES)
        for entry in entries:
            version = entry.checkpoint.version
            if last is not None and version > last:
                return found
            found += _told_by(entry.checkpoint)
        if not entries:
            return found


def _told_by(record: CheckpointRecord) -> Iterator[Start]:
    if record.source is Source.INTENT:
        body = decode_body(record.body)
        yield from ((record.version, call.id) for call in body.started)
        yield from ((record.version, step_id(node, name, record.step)) for node, name, _ in body.memos)
    elif record.source is Source.FORK:
        yield from decode_body(record.body).left_behind
