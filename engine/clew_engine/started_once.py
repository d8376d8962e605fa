"""Which `once` calls and steps were started on a thread, whatever line that was on: who goes back before one must be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clew_engine.checkpoints import Start, decode_body, step_id
from clew_storage import CheckpointRecord, Head, Source, ThreadKey
from clew_storage.lines import contains, line_of, truncate

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 500


async def started_after(storage: Storage, key: ThreadKey, uid: str, version: int) -> frozenset[str]:
    """The ids of those that were started after a version."""
    told = await _told(storage, key, uid, version)
    return frozenset(each for record in told for at, each in _told_by(record) if at > version)


async def left_behind(storage: Storage, head: Head, base_version: int) -> tuple[Start, ...]:
    """Those that a copy of the line up to `base_version` has no rows of: they are on lines that were abandoned, or come later.

    A version after the base is the copy's own: what came later in the source counts as started just after the base.
    """
    key, uid = head.thread.key, head.thread.uid
    if contains(head.line, base_version):
        line = truncate(head.line, base_version)
        told = await _told(storage, key, uid, line[0][1])
    else:
        told = await _told(storage, key, uid, 0)
        parents = [(record.version, record.parent_version) for record in told if record.source is Source.FORK]
        line = line_of(base_version, parents)
    elsewhere = (record for record in told if not contains(line, record.version))
    found = {(min(at, base_version + 1), each) for record in elsewhere for at, each in _told_by(record)}
    return tuple(sorted(found))


async def starts_elsewhere(storage: Storage, head: Head, version: int) -> tuple[list[CheckpointRecord], list[Start]]:
    """The forks of the head's line after a version; and what was started after it on other lines."""
    told = await _told(storage, head.thread.key, head.thread.uid, version)
    forks = [record for record in told if record.source is Source.FORK and contains(head.line, record.version)]
    elsewhere = (record for record in told if not contains(head.line, record.version))
    return forks, [start for record in elsewhere for start in _told_by(record) if start[0] > version]


async def _told(storage: Storage, key: ThreadKey, uid: str, version: int) -> list[CheckpointRecord]:
    """The checkpoints after a version that tell what was started."""
    found: list[CheckpointRecord] = []
    while True:
        part = await storage.backend.threads.list_starts(key, uid, after_version=version, limit=_PAGE)
        found += part
        if len(part) < _PAGE:
            return found
        version = part[-1].version


def _told_by(record: CheckpointRecord) -> Iterator[Start]:
    if record.source is Source.INTENT:
        body = decode_body(record.body)
        yield from ((record.version, call.id) for call in body.started)
        yield from ((record.version, step_id(node, name, record.step)) for node, name, _ in body.memos)
    elif record.source is Source.FORK:
        yield from decode_body(record.body).left_behind
