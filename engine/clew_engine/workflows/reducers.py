"""Reducers: what becomes of a key that a node returns. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clew_engine.json_text import encode, parse_strict
from clew_storage import StateChange

Reducer = Callable[[Any, Any], Any]


def append(old: list[Any] | None, new: list[Any]) -> list[Any]:
    """The old list with the new elements after it; only the new ones are stored."""
    return [*(old or ()), *new]


def merge(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """The old object with the new one's keys over it."""
    return {**(old or {}), **new}


class StateConflictError(Exception):
    """Two nodes of one step wrote a key that has no reducer."""

    def __init__(self, key: str, first: str, second: str) -> None:
        super().__init__(
            f"nodes {first!r} and {second!r} of one step both wrote {key!r}, which has no reducer; "
            "give the key one, or let one of them write another key"
        )
        self.key = key
        self.nodes = (first, second)


@dataclass
class Merged:
    """The state as it becomes, a node after the other, and the change that makes it so."""

    state: Mapping[str, bytes]
    reducers: Mapping[str, Reducer]
    replaced: dict[str, bytes] = field(default_factory=dict)
    appended: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    _writers: dict[str, str] = field(default_factory=dict)

    def add(self, node: str, values: Mapping[str, bytes]) -> None:
        """What one node returned. Raises StateConflictError for a key that another node of the step has written."""
        for key, value in values.items():
            reducer = self.reducers.get(key)
            before = self._writers.setdefault(key, node)
            if reducer is None:
                if before != node:
                    raise StateConflictError(key, before, node)
                self.replaced[key] = value
            elif reducer is append and key not in self.replaced:
                self.appended[key] = (*self.appended.get(key, ()), *_elements(value))
            else:
                self.replaced[key] = encode(reducer(self._now(key), parse_strict(value)))

    def change(self) -> StateChange | None:
        """The change, or None for none."""
        if not self.replaced and not self.appended:
            return None
        return StateChange(replaced=self.replaced, appended=self.appended)

    def _now(self, key: str) -> Any:
        known = self.replaced.get(key, self.state.get(key))
        return None if known is None else parse_strict(known)


def _elements(value: bytes) -> tuple[bytes, ...]:
    return tuple(encode(element) for element in parse_strict(value))
