"""The keys that a workflow's state declares: each value is checked on input and after each node, by its own key."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import pydantic

from clew_engine.errors import StateInvalidError
from clew_engine.typed_state import DeclaredState
from clew_engine.workflows.reducers import Reducer, append, merge

V = TypeVar("V")
# What these are given is of the key's own type; what another reducer is given need not be.
_OF_ITS_TYPE = (append, merge)


class DeclaredKeys:
    """Keys with their types and reducers; a type that is annotated with a function has that one as its reducer."""

    def __init__(self, declared: type[Any] | None, reducers: Mapping[str, Reducer]) -> None:
        self._adapters: dict[str, pydantic.TypeAdapter[Any]] | None = None
        self.reducers: dict[str, Reducer] = {}
        self.schema: Mapping[str, Any] = {"type": "object"}
        if declared is not None:
            self.schema = DeclaredState(declared, "workflow.state").schema
            hints = _hints(declared)
            self._adapters = {name: pydantic.TypeAdapter(kind) for name, kind in hints.items()}
            self.reducers |= {name: reducer for name, kind in hints.items() if (reducer := _annotated(kind))}
        self.reducers |= reducers

    def known(self, values: Mapping[str, V]) -> dict[str, V]:
        """Of some values those whose keys are declared; all, where nothing is."""
        return {name: value for name, value in values.items() if self._adapters is None or name in self._adapters}

    def check_state(self, state: Mapping[str, bytes], where: str) -> None:
        """Raises StateInvalidError for a key that is not declared, or a value that does not fit its type."""
        self._check(state, state, where)

    def check(self, values: Mapping[str, bytes], where: str) -> None:
        """The same for what a node returns; what an author's own reducer is given is that one's to judge."""
        own = [key for key in values if self.reducers.get(key, append) not in _OF_ITS_TYPE]
        self._check(values, [key for key in values if key not in own], where)

    def check_reduced(self, values: Mapping[str, bytes], where: str) -> None:
        """The same for what the reducers made of it."""
        self._check(values, [key for key in values if self.reducers.get(key, append) not in _OF_ITS_TYPE], where)

    def _check(self, values: Mapping[str, bytes], typed: Iterable[str], where: str) -> None:
        adapters = self._adapters
        if adapters is None:
            return
        for key in values:
            if key not in adapters:
                known = ", ".join(adapters)
                raise StateInvalidError(f"{where}.{key}", f"the workflow declares no such key; it declares: {known}")
        for key in typed:
            try:
                adapters[key].validate_json(values[key])
            except pydantic.ValidationError as error:
                raise StateInvalidError(f"{where}.{key}", error.errors()[0]["msg"]) from None


def _hints(declared: type[Any]) -> dict[str, Any]:
    if issubclass(declared, pydantic.BaseModel):
        return {name: _field_type(field) for name, field in declared.model_fields.items()}
    names = {field.name for field in dataclasses.fields(declared)} if dataclasses.is_dataclass(declared) else None
    hints = get_type_hints(declared, include_extras=True)
    return {name: _bare(kind) for name, kind in hints.items() if names is None or name in names}


def _field_type(field: Any) -> Any:
    kind = field.annotation
    for extra in field.metadata:
        kind = Annotated[kind, extra]
    return kind


def _bare(kind: Any) -> Any:
    """Without NotRequired or Required, which say nothing of a value."""
    origin = getattr(get_origin(kind), "_name", None) or getattr(get_origin(kind), "__name__", None)
    return get_args(kind)[0] if origin in ("NotRequired", "Required", "ReadOnly") else kind


def _annotated(kind: Any) -> Reducer | None:
    for extra in getattr(kind, "__metadata__", ()):
        if callable(extra) and not isinstance(extra, type):
            reducer: Reducer = extra
            return reducer
    return None
