"""The state: top-level keys to JSON bytes as sent. Values are parsed a key at a time, for who reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import pydantic

from clew_engine.errors import ArgumentInvalidError, StateInvalidError, StateTooLargeError
from clew_engine.json_text import JsonError, encode, parse_stored, split_object
from clew_storage import StateChange

T = TypeVar("T")
R = TypeVar("R")
# What no setting can exceed.
LARGEST = 3_670_016
RESERVED = frozenset({"messages", "_clew"})


def parse_state(text: bytes, field: str = "state_json", limit: int = LARGEST) -> dict[str, bytes]:
    """State as a caller sent it; empty text is no values.

    Raises StateInvalidError, ArgumentInvalidError for a reserved key, and StateTooLargeError for a text over the limit, which is not read then.
    """
    if not text:
        return {}
    if len(text) > limit:
        raise StateTooLargeError(field, len(text), limit, field)
    try:
        return check_keys(split_object(text), field)
    except JsonError as error:
        raise StateInvalidError(field, str(error)) from None


def values_of(given: Any) -> Mapping[str, Any] | None:
    """Values by their keys, also from a pydantic model (what was set of it) or a dataclass; None for what has none."""
    if isinstance(given, pydantic.BaseModel):
        return given.model_dump(mode="json", exclude_unset=True)
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        plain: Mapping[str, Any] = pydantic.TypeAdapter(type(given)).dump_python(given, mode="json")
        return plain
    return given if isinstance(given, Mapping) else None


def encode_values(values: Mapping[str, Any], field: str = "state") -> dict[str, bytes]:
    """State from Python values."""
    encoded: dict[str, bytes] = {}
    for key, value in values.items():
        place = f"{field}.{key!r}"[:200]
        if not isinstance(key, str):
            raise StateInvalidError(place, "a key is text")
        encoded_value(key, place)
        encoded[key] = encoded_value(value, place, around=1)
    return check_keys(encoded, field)


def encoded_value(value: Any, field: str, *, around: int = 0) -> bytes:
    """The JSON of a Python value. Raises StateInvalidError, naming the field."""
    try:
        return encode(value, around=around)
    except JsonError as error:
        raise StateInvalidError(field, str(error)) from None


def check_keys(values: dict[str, bytes], field: str) -> dict[str, bytes]:
    """The values themselves, unless one has a name that the engine keeps for itself."""
    for key in values:
        if key in RESERVED:
            raise ArgumentInvalidError(field, f"the key {key!r} is the engine's own; choose another name")
    return values


def check_size(state: Mapping[str, bytes], limit: int) -> None:
    """Raises StateTooLargeError when the joined object would be over the limit."""
    size = 2 + sum(len(key) + len(value) + 4 for key, value in state.items())
    if size > limit:
        raise StateTooLargeError("the state", size, limit, "state_json")


def replacing(values: Mapping[str, bytes]) -> StateChange | None:
    """The change that sets these top-level values, or None for none."""
    return StateChange(replaced=dict(values)) if values else None


class StateView(Mapping[str, Any]):
    """A read-only look at the state for hooks, instructions and tools.

    A value is parsed when it is asked for; changing it in place has no effect. `messages` is the transcript as dicts, `_clew` the engine's
    counters.
    """

    __slots__ = ("_clew", "_messages", "_values")

    def __init__(
        self, values: Mapping[str, bytes], messages: Sequence[Mapping[str, Any]], clew: Mapping[str, Any]
    ) -> None:
        self._values = values
        self._messages = messages
        self._clew = clew

    def over(self, values: Mapping[str, bytes], messages: Sequence[Mapping[str, Any]]) -> StateView:
        """The same with other values over it, and with other messages."""
        return StateView({**self._values, **values}, messages, self._clew)

    def bare(self) -> Mapping[str, bytes]:
        """The values alone, as the JSON that they are."""
        return self._values

    def __getitem__(self, key: str) -> Any:
        if key == "messages":
            return self._messages
        if key == "_clew":
            return dict(self._clew)
        return parse_stored(self._values[key])

    def __iter__(self) -> Iterator[str]:
        yield from self._values
        yield "messages"
        yield "_clew"

    def __len__(self) -> int:
        return len(self._values) + 2

    def __repr__(self) -> str:
        return f"<state: {', '.join(self._values) or 'no values'}; {len(self._messages)} messages>"


class LazySequence(Sequence[R], Generic[T, R]):
    """A read-only sequence that makes an item when it is asked for."""

    __slots__ = ("_items", "_make")

    def __init__(self, items: Sequence[T], make: Callable[[T], R]) -> None:
        self._items = items
        self._make = make

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._make(item) for item in self._items[index]]
        return self._make(self._items[index])

    def __len__(self) -> int:
        return len(self._items)
