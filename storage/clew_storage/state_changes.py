"""What checkpoints do to the state, as pure functions over bytes: apply, compose, encode, decode.

A `Delta` is the effect of one change or of many in a row. Unlike a `StateChange` it keeps the order in which keys first
came, so that applying a composed delta gives the same bytes in the same order as applying its parts one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clew_storage.errors import DataCorrupt
from clew_storage.records import StateChange
from clew_storage.varints import VarintReader, put_block, put_varint

_BLANKS = b" \t\r\n"
_OPEN = ord("[")
_PUT, _APPEND = 0, 1


@dataclass(frozen=True, slots=True)
class Tail:
    """New elements at the end of an array, joined by commas."""

    elements: bytes


@dataclass(frozen=True, slots=True)
class Delta:
    """First `removed`, then `values` in their order: the bytes that a key now has, or the tail that its array gets."""

    removed: tuple[str, ...] = ()
    values: dict[str, bytes | Tail] = field(default_factory=dict)


def apply(state: Mapping[str, bytes], change: StateChange) -> dict[str, bytes]:
    """The state after one change."""
    return apply_delta(state, delta_of(change))


def delta_of(change: StateChange) -> Delta:
    """One change as a delta."""
    removed = dict.fromkeys(change.removed)
    values: dict[str, bytes | Tail] = dict(change.replaced)
    for key, elements in change.appended.items():
        _append(values, removed, key, Tail(b",".join(elements)))
    return Delta(tuple(removed), values)


def apply_delta(state: Mapping[str, bytes], delta: Delta) -> dict[str, bytes]:
    """The state after a delta."""
    result = dict(state)
    for key in delta.removed:
        result.pop(key, None)
    for key, value in delta.values.items():
        result[key] = splice(result.get(key), value) if isinstance(value, Tail) else value
    return result


def compose(first: Delta, second: Delta) -> Delta:
    """The one delta that does what both do, one after the other."""
    removed = dict.fromkeys(first.removed + second.removed)
    values = dict(first.values)
    for key in second.removed:
        values.pop(key, None)
    for key, value in second.values.items():
        if isinstance(value, Tail):
            _append(values, removed, key, value)
        else:
            values[key] = value
    return Delta(tuple(removed), values)


def _append(values: dict[str, bytes | Tail], removed: Mapping[str, None], key: str, tail: Tail) -> None:
    before = values.get(key)
    if isinstance(before, Tail):
        values[key] = Tail(b",".join(part for part in (before.elements, tail.elements) if part))
    elif before is not None:
        values[key] = splice(before, tail)
    else:
        values[key] = splice(None, tail) if key in removed else tail


def splice(array: bytes | None, tail: Tail) -> bytes:
    """The array's bytes as they were, with the tail before the closing bracket; what is no array counts as empty."""
    if array is None or not (array.startswith(b"[") or array.lstrip(_BLANKS).startswith(b"[")):
        return b"[" + tail.elements + b"]"
    if not tail.elements:
        return array
    end = array.rindex(b"]")
    last = end - 1
    while array[last] in _BLANKS:
        last -= 1
    comma = b"" if array[last] == _OPEN else b","
    # One copy of what may be large, and not one for each plus sign.
    return b"".join((memoryview(array)[:end], comma, tail.elements, memoryview(array)[end:]))


def encode_delta(delta: Delta) -> bytes:
    """Compact bytes: removed keys, then each key with its kind and value."""
    out = bytearray()
    put_varint(out, len(delta.removed))
    for key in delta.removed:
        put_block(out, key.encode())
    for key, value in delta.values.items():
        put_block(out, key.encode())
        if isinstance(value, Tail):
            out.append(_APPEND)
            put_block(out, value.elements)
        else:
            out.append(_PUT)
            put_block(out, value)
    return bytes(out)


def decode_delta(data: bytes) -> Delta:
    """What `encode_delta` encoded. Raises `DataCorrupt` for anything else."""
    reader = VarintReader(data)
    removed = tuple(reader.text() for _ in range(reader.varint()))
    values: dict[str, bytes | Tail] = {}
    while not reader.done:
        key, kind = reader.text(), reader.varint()
        if kind not in {_PUT, _APPEND}:
            raise DataCorrupt("a stored state change has an unknown kind of value")
        values[key] = reader.block() if kind == _PUT else Tail(reader.block())
    return Delta(removed, values)
