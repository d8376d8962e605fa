"""States: what each checkpoint changed, for ever, and folds of the head's line (docs/decisions.md).

A write brings its fold along, made here from pieces that the writer remembers: so it costs no statement of its own. What
is remembered is right wherever the write goes through, for both stand on the same head.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import reduce

from clew_storage.folds import FULL, Piece, next_merge
from clew_storage.lines import Line, contains
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.records import ThreadKey, Write
from clew_storage.state_changes import Delta, apply_delta, compose, decode_delta, encode_delta

State = dict[str, bytes]
# What is remembered of all threads together.
_REMEMBERED_BYTES = 32 << 20
# A thread without state is worth remembering too, for the question that it spares.
_ENTRY_BYTES = 512

_FOLDED_ROWS = """
WITH folded AS MATERIALIZED (
    SELECT f.version, f.level, f.change FROM clew.folds f WHERE f.tenant = $1 AND f.thread_id = $2 AND f.version <= $3
)
SELECT * FROM folded
UNION ALL
SELECT s.version, 0::smallint, s.change FROM clew.state_changes s
WHERE s.tenant = $1 AND s.thread_id = $2 AND s.version <= $3
    AND s.version > coalesce((SELECT max(f.version) FROM folded f), 0)
"""
_ROWS = """
SELECT s.version, 0::smallint, s.change FROM clew.state_changes s
WHERE s.tenant = $1 AND s.thread_id = $2 AND s.version <= $3
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A fold, or a change (level 0), with the last version that is in it."""

    version: int
    level: int
    change: bytes


@dataclass(frozen=True, slots=True)
class Fold:
    """What a write does to the folds: those from a version on go, and this part comes."""

    since: int
    part: Part


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the state of a head is made of, oldest first; `trimmed` says whether its log was known to be when it was read."""

    parts: tuple[Part, ...] = ()
    trimmed: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return _ENTRY_BYTES + sum(len(part.change) for part in self.parts)

    def state(self) -> State:
        """The state."""
        return reduce(apply_delta, (decode_delta(part.change) for part in self.parts), {})

    def with_change(self, version: int, change: bytes) -> tuple[Pieces, Fold | None]:
        """With one more change, and the fold that it is time for."""
        parts = (*self.parts, Part(version, 0, change))
        merge = next_merge([Piece(part.level, len(part.change)) for part in parts])
        if merge is None:
            return Pieces(parts, self.trimmed), None
        kept, merged = parts[: -merge.count], parts[-merge.count :]
        delta = reduce(compose, (decode_delta(part.change) for part in merged))
        if not kept:
            delta = Delta(values=dict(apply_delta({}, delta)))
        # Folds of a trimmed log are known to be whole by the level of the first.
        level = FULL if self.trimmed and not kept else merge.level
        part = Part(version, level, encode_delta(delta))
        return Pieces((*kept, part), self.trimmed), Fold(merged[0].version if kept else 0, part)


def forked(version: int, base: State, delta: Delta | None) -> tuple[Pieces, Fold]:
    """The pieces of a head with a new line: the folds of the old one go, the state is written once."""
    state = base if delta is None else apply_delta(base, delta)
    part = Part(version, FULL, encode_delta(Delta(values=dict(state))))
    return Pieces((part,)), Fold(0, part)


async def read_pieces(
    connection: Connection, schema: Schema, key: ThreadKey, line: Line, *, on_head_line: bool, oldest: int
) -> Pieces:
    """The pieces of the state at the end of a line; folds help where it is the head's line or its beginning.

    `oldest` is where the log begins once it was trimmed. A server that remembers the pieces from before may since have
    written a fold that goes on from ones that are gone: then the first is no full copy, and the changes alone are read.
    """
    if not line:
        return Pieces()
    arguments = key.tenant, key.thread_id, line[-1][1]
    rows = await connection.fetch(schema.sql(_FOLDED_ROWS if on_head_line else _ROWS), *arguments)
    parts = sorted((Part(*row) for row in rows), key=lambda part: part.version)
    if oldest and parts and parts[0].level not in {0, FULL}:
        rows = await connection.fetch(schema.sql(_ROWS), *arguments)
        parts = sorted((Part(*row) for row in rows), key=lambda part: part.version)
    return Pieces(tuple(part for part in parts if part.level or contains(line, part.version)), trimmed=oldest > 0)


class PiecesInMind:
    """The pieces of threads that were written to lately, at the head that they belong to and under the epoch of that write."""

    def __init__(self, most_bytes: int = _REMEMBERED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[tuple[ThreadKey, str], tuple[int, int, Pieces]] = OrderedDict()

    def recall(self, write: Write) -> Pieces | None:
        """The pieces at the head that a write expects, where they are known."""
        if write.expected_version == 0:
            return Pieces()
        known = self._known.get((write.key, write.uid))
        # Under the write's own epoch nobody else can have come between.
        if known is None or known[0] != write.expected_version or known[1] not in {write.epoch, write.head_epoch}:
            return None
        self._known.move_to_end((write.key, write.uid))
        return known[2]

    def keep(self, write: Write, pieces: Pieces) -> None:
        """Remember what was written."""
        self.forget(write.key, write.uid)
        self._known[write.key, write.uid] = (write.checkpoint.version, write.epoch, pieces)
        self._bytes += pieces.size
        while self._bytes > self._most_bytes and len(self._known) > 1:
            _, (_, _, dropped) = self._known.popitem(last=False)
            self._bytes -= dropped.size

    def forget(self, key: ThreadKey, uid: str) -> None:
        """Nothing is known any more."""
        known = self._known.pop((key, uid), None)
        if known is not None:
            self._bytes -= known[2].size
