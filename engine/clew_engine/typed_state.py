"""Declared state: a TypedDict, dataclass or pydantic model checks the values. Nothing that is stored names it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints, is_typeddict

import pydantic
import typing_extensions

from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.json_text import join_object

StateCheck = Callable[[Mapping[str, bytes]], None]


class DeclaredState:
    """A type that states are held to. Raises ArgumentInvalidError, when it is made, for a type that cannot be checked."""

    def __init__(self, declared: type[Any], field: str = "agent.state") -> None:
        try:
            self._adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_readable(declared))
            self.schema: Mapping[str, Any] = self._adapter.json_schema()
        except pydantic.errors.PydanticUserError as error:
            raise ArgumentInvalidError(field, f"{declared!r} cannot declare a state: {error.message}") from error

    def check(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError, naming the key that does not fit."""
        try:
            self._adapter.validate_json(join_object(state))
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StateInvalidError(f"state.{place}" if place else "state", first["msg"]) from None


def _readable(declared: type[Any]) -> type[Any]:
    """The type itself, or for a TypedDict of a Python that does not say enough of it, one that says the same."""
    if sys.version_info >= (3, 12) or not is_typeddict(declared) or type(declared).__module__ != "typing":
        return declared
    hints = get_type_hints(declared, include_extras=True)
    fields = {
        name: kind if name in declared.__required_keys__ else typing_extensions.NotRequired[kind]
        for name, kind in hints.items()
    }
    make: Any = typing_extensions.TypedDict
    made: type[Any] = make(declared.__name__, fields)
    return made
