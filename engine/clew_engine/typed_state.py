"""Declared state: a TypedDict, dataclass or pydantic model checks the values. Nothing that is stored names it.

What is stored are the bytes that came. So they are held to the type as JSON says it (a number is no text, `5.0` no int, a date is text), and whatever
is taken fits the published schema.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, get_type_hints, is_typeddict

import pydantic
import typing_extensions

from clew_engine.causes import told
from clew_engine.declared_fields import fields_of
from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.json_text import join_object, parse_stored
from clew_engine.schemas import misfit

# What holds of a list or object as a whole, and need not of a part that is added.
_OF_ALL = frozenset({"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "allOf", "$ref"})


class DeclaredState:
    """A type that states are held to. Raises ArgumentInvalidError, when it is made, for a type that cannot be checked.

    `schema` is that of a whole state, and `partial_schema` that of one which fills up as it goes.
    """

    def __init__(self, declared: type[Any], field: str = "agent.state") -> None:
        try:
            self._adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(_readable(declared))
            self.schema: Mapping[str, Any] = _inlined(self._adapter.json_schema(by_alias=False))
        except (pydantic.errors.PydanticUserError, NameError) as error:
            raise ArgumentInvalidError(field, f"{declared!r} cannot declare a state: {told(error)}") from error
        if self.schema.get("type") != "object":
            raise ArgumentInvalidError(
                field, f"{declared!r} cannot declare a state: give a TypedDict, a dataclass or a pydantic model"
            )
        self._fields = fields_of(self._adapter)
        self.names = self._fields.names if self._fields else ()
        self.partial_schema = {name: value for name, value in self.schema.items() if name != "required"}
        for name, default in (self._fields.defaults if self._fields else {}).items():
            try:
                self.check_some({name: default()}, "")
            except StateInvalidError as error:
                why = error.message.removeprefix(f"{error.field}: ")
                raise ArgumentInvalidError(field, f"the default of {name!r} does not fit its type: {why}") from None

    def defaults(self, state: Mapping[str, bytes]) -> dict[str, bytes]:
        """Of the keys that a state has not those that have a default."""
        known = self._fields.defaults if self._fields else {}
        return {name: default() for name, default in known.items() if name not in state}

    def check(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError, naming the key that does not fit; also for one that is needed and not there."""
        self._run(self._adapter.validate_json, state, "state")
        self._fits(state, self.schema, "state")

    def check_some(self, values: Mapping[str, bytes], where: str) -> None:
        """The same for some of the keys, which all are declared."""
        assert self._fields is not None
        self._run(self._fields.partial.validate_json, values, where, deep=1)
        self._fits(values, self.partial_schema, where)

    def check_together(self, state: Mapping[str, bytes], where: str) -> None:
        """What the type's own validators say of all its keys, once all that are needed are there."""
        if self._fields is None or not self._fields.whole:
            return
        if all(name in state for name in self.schema.get("required", ())):
            self._run(self._adapter.validate_json, state, where)

    def is_of_all(self, name: str) -> bool:
        """Whether a key's type says something that holds of the whole value only."""
        assert self._fields is not None
        kind = self.schema["properties"][name] if name in self.names else {}
        return name in self._fields.judged or any(
            not _OF_ALL.isdisjoint(each) for each in (kind, *kind.get("anyOf", ()))
        )

    def _run(self, validate: Any, values: Mapping[str, bytes], where: str, deep: int | None = None) -> None:
        try:
            validate(join_object(values), strict=True)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = [*map(str, first["loc"])]
            within = ".".join(place[deep:]) if deep else ""
            why = f"{within}: {first['msg']}" if within else first["msg"]
            raise StateInvalidError(".".join([where, *place[:deep]]), why) from None
        except Exception as error:
            # A validator of the author's that raises what pydantic takes for a mistake.
            raise StateInvalidError(where, f"a validator raised {told(error)}") from error

    def _fits(self, values: Mapping[str, bytes], schema: Mapping[str, Any], where: str) -> None:
        if self._fields is None or not self._fields.taking:
            return
        wrong = misfit(schema, {name: parse_stored(value) for name, value in values.items()})
        if wrong:
            raise StateInvalidError(where, f"{wrong} (what a validator makes of a value is not kept)")


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that names what it is, and not where it is defined (types that hold themselves)."""
    rest = {name: value for name, value in schema.items() if name != "$ref"}
    if "$ref" not in schema:
        return rest
    return {**rest["$defs"][schema["$ref"].rpartition("/")[2]], **rest}


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
