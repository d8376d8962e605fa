"""Reducers: what becomes of a key that a node returns. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew_engine.causes import told
from clew_engine.growing_state import GrowingState
from clew_engine.json_text import encode, parse_stored
from clew_storage import StateChange

Reducer = Callable[[Any, Any], Any]


def append(old: list[Any] | None, new: list[Any]) -> list[Any]:
    """The old list with the new elements after it; only the new ones are stored."""
    return [*(old or ()), *new]


def merge(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """The old object with the new one's keys over it."""
    return {**(old or {}), **new}


class MergeError(Exception):
    """What the nodes of a step returned cannot be merged."""

    code = "tool_failed"

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class StateConflictError(MergeError):
    """Two nodes of one step wrote a key that has no reducer."""

    code = "state_conflict"

    def __init__(self, key: str, first: str, second: str) -> None:
        super().__init__(
            key,
            f"nodes {first!r} and {second!r} of one step both wrote {key!r}, which has no reducer; "
            "give the key one, or let one of them write another key",
        )


def reduced(reducer: Reducer, key: str, old: bytes | None, new: bytes, node: str) -> bytes:
    """What a reducer makes of a key's JSON. Raises MergeError with what it raises, and for what JSON cannot hold."""
    try:
        return encode(reducer(None if old is None else parse_stored(old), parse_stored(new)))
    except Exception as error:
        name = getattr(reducer, "__name__", type(reducer).__name__)
        message = f"the reducer {name!r} of {key!r} failed on what node {node!r} returned: {told(error)}"
        raise MergeError(key, message) from error


@dataclass
class Merged:
    """The state as it becomes, a node after the other, and the change that makes it so."""

    state: Mapping[str, bytes]
    reducers: Mapping[str, Reducer]
    replaced: dict[str, bytes] = field(default_factory=dict)
    appended: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    _writers: dict[str, str] = field(default_factory=dict)

    def add(self, node: str, values: Mapping[str, bytes]) -> None:
        """What one node returned. Raises MergeError for a key that cannot be merged: StateConflictError where another node has written it."""
        for key, value in values.items():
            reducer = self.reducers.get(key)
            before = self._writers.setdefault(key, node)
            if reducer is None:
                if before != node:
                    raise StateConflictError(key, before, node)
                self.replaced[key] = value
            elif reducer is append:
                self.appended[key] = (*self.appended.get(key, ()), *self._elements(node, key, value))
            else:
                known = self.replaced.get(key, self.state.get(key))
                self.replaced[key] = reduced(reducer, key, known, value, node)

    def change(self) -> StateChange | None:
        """The change, or None for none."""
        if not self.replaced and not self.appended:
            return None
        return StateChange(replaced=self.replaced, appended=self.appended)

    def _elements(self, node: str, key: str, value: bytes) -> tuple[bytes, ...]:
        elements = parse_stored(value)
        if not isinstance(elements, list):
            raise MergeError(key, f"node {node!r} returned for {key!r} what is no list, and its reducer is append")
        state = self.state
        known = state.start_of(key) if isinstance(state, GrowingState) else state.get(key)
        if known not in (None, b"null") and not known.lstrip().startswith(b"["):
            raise MergeError(key, f"{key!r} holds what is no list, and its reducer is append")
        return tuple(encode(element) for element in elements)
