"""Declared state: a TypedDict, dataclass or pydantic model checks the values. Nothing that is stored names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pydantic

from clew_engine.errors import StateInvalidError
from clew_engine.json_text import join_object


def state_check(declared: type[Any]) -> Callable[[Mapping[str, bytes]], None]:
    """A check of whole states; it raises StateInvalidError, naming the key."""
    adapter = pydantic.TypeAdapter(declared)

    def check(state: Mapping[str, bytes]) -> None:
        try:
            adapter.validate_json(join_object(state))
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise StateInvalidError(f"state.{place}" if place else "state", first["msg"]) from None

    return check


def state_schema(declared: type[Any]) -> Mapping[str, Any]:
    """The JSON Schema of the declared state."""
    return pydantic.TypeAdapter(declared).json_schema()
