"""A line as version ranges, oldest first: which checkpoints lead to a head once rewinds have cut some off.

`((1, 5), (9, 12))` says that version 9 continued version 5 and that 6 to 8 were abandoned.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from clew_storage.varints import VarintReader, put_varint

Line = tuple[tuple[int, int], ...]


def extend(line: Line, version: int) -> Line:
    """The line with one more version at its end."""
    if line and line[-1][1] == version - 1:
        return (*line[:-1], (line[-1][0], version))
    return (*line, (version, version))


def contains(line: Line, version: int) -> bool:
    """Whether the version is on the line."""
    at = bisect_right(line, version, key=lambda span: span[0]) - 1
    return at >= 0 and version <= line[at][1]


def truncate(line: Line, version: int) -> Line:
    """The part of the line that ends at `version`, which is on it."""
    at = bisect_right(line, version, key=lambda span: span[0]) - 1
    return (*line[:at], (line[at][0], version))


def since(line: Line, oldest: int) -> Line:
    """The part of the line that begins with `oldest`, which is on it; all of it for 0."""
    if not oldest:
        return line
    at = bisect_right(line, oldest, key=lambda span: span[0]) - 1
    return ((oldest, line[at][1]), *line[at + 1 :])


def trimmed(line: Line, oldest: int) -> Line:
    """The line once all below `oldest` is trimmed: what is left from there is of this line, so no gaps need be known."""
    (_, last), *later = since(line, oldest)
    return ((1, last), *later)


def line_of(version: int, forks: Sequence[tuple[int, int]]) -> Line:
    """The line that ends at `version`.

    `forks` are, in version order, the `(version, parent)` that did not continue the version before.
    """
    spans: list[tuple[int, int]] = []
    at = len(forks)
    while version > 0:
        at = bisect_right(forks, version, hi=at, key=lambda fork: fork[0]) - 1
        if at < 0:
            spans.append((1, version))
            break
        first, parent = forks[at]
        spans.append((first, version))
        version = parent
    return tuple(reversed(spans))


def encode_line(line: Line) -> bytes:
    """Compact bytes: the gaps between the borders."""
    out, last = bytearray(), 0
    for span in line:
        for border in span:
            put_varint(out, border - last)
            last = border
    return bytes(out)


def decode_line(data: bytes) -> Line:
    """What `encode_line` encoded."""
    reader, spans, last = VarintReader(data), [], 0
    while not reader.done:
        first = last + reader.varint()
        last = first + reader.varint()
        spans.append((first, last))
    return tuple(spans)
