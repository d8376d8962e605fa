"""When to fold state changes, so that the newest state is read from few rows and no byte is stored more than twice.

The pieces of a state are, oldest first, its folds and then the changes since the last of them (level 0). Eight pieces of
one level become one of the next. Once what came after the first piece outweighs it, all become one full copy, which is
level `FULL` and is left alone until it is outweighed in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FULL = 63
_FAN = 8
# Below this size a full copy at each change would cost more than the few rows that it saves.
_LIGHT = 2048


@dataclass(frozen=True, slots=True)
class Piece:
    """One row that the newest state is read from."""

    level: int
    size: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The last `count` pieces are to become one of that level."""

    count: int
    level: int


def next_merge(pieces: Sequence[Piece]) -> Merge | None:
    """What to merge after a change was added as the last piece; None most of the time."""
    if len(pieces) > 1 and sum(piece.size for piece in pieces[1:]) > max(pieces[0].size, _LIGHT):
        return Merge(len(pieces), FULL)
    level, start = 0, len(pieces)
    while True:
        first = start
        while first > 0 and pieces[first - 1].level == level:
            first -= 1
        # The pieces merged so far stand for one more of this level.
        merged = 1 if start < len(pieces) else 0
        if start - first + merged < _FAN:
            break
        level, start = level + 1, first
    return Merge(len(pieces) - start, level) if level else None
