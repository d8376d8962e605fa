"""The keys that a workflow's state declares: each value is checked on input and after each node, by its own key."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import pydantic

from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.typed_state import DeclaredState
from clew_engine.workflows.reducers import Reducer, append, merge
from clew_storage import StateChange

V = TypeVar("V")
# What these are given is of the key's own type; what another reducer is given need not be.
_OF_ITS_TYPE = (append, merge)


class DeclaredKeys:
    """Keys with their types and reducers; a type that is annotated with a function has that one as its reducer."""

    def __init__(self, declared: type[Any] | None, reducers: Mapping[str, Reducer]) -> None:
        self._declared: DeclaredState | None = None
        self.reducers: dict[str, Reducer] = {}
        self.schema: Mapping[str, Any] = {"type": "object"}
        if declared is not None:
            self._declared = DeclaredState(declared, "workflow.state")
            if not self._declared.names:
                raise ArgumentInvalidError("workflow.state", f"{declared!r} declares no keys")
            # A state fills up as it goes, and has no other keys.
            self.schema = {**self._declared.partial_schema, "additionalProperties": False}
            self.reducers |= {name: found for name, kind in _hints(declared).items() if (found := _annotated(kind))}
            for key in reducers:
                if key not in self._declared.names:
                    names = ", ".join(self._declared.names)
                    raise ArgumentInvalidError("workflow.reducers", f"{key!r} is no key of the state; it has: {names}")
        self.reducers |= reducers
        self._parts = {
            key: self._declared is not None and reducer in _OF_ITS_TYPE and not self._declared.is_of_all(key)
            for key, reducer in self.reducers.items()
        }

    def known(self, values: Mapping[str, V]) -> dict[str, V]:
        """Of some values those whose keys are declared; all, where nothing is."""
        names = None if self._declared is None else self._declared.names
        return {name: value for name, value in values.items() if names is None or name in names}

    def defaults(self, state: Mapping[str, bytes]) -> dict[str, bytes]:
        """Of the keys that a state has not those that are declared with a default."""
        return {} if self._declared is None else self._declared.defaults(state)

    def check_state(self, state: Mapping[str, bytes], where: str) -> None:
        """Raises StateInvalidError for a key that is not declared, or a value that does not fit its type."""
        self._check(state, state, where)
        if self._declared is not None:
            self._declared.check_together(state, where)

    def check(self, values: Mapping[str, bytes], where: str) -> None:
        """The same for what a node returns; what an author's own reducer is given is that one's to judge."""
        self._check(values, [key for key in values if self._parts.get(key, True)], where)

    def check_reduced(self, change: StateChange, state: Mapping[str, bytes], where: str) -> None:
        """The same for what the reducers made of it; `state` is the one with the change."""
        if self._declared is None:
            return
        changed = [*change.replaced, *change.appended]
        self._check(state, [key for key in changed if not self._parts.get(key, True)], where, known=True)
        self._declared.check_together(state, where)

    def _check(self, values: Mapping[str, bytes], typed: Iterable[str], where: str, *, known: bool = False) -> None:
        declared = self._declared
        if declared is None:
            return
        for key in () if known else values:
            if key not in declared.names:
                names = ", ".join(declared.names)
                raise StateInvalidError(
                    f"{where}.{key}",
                    f"the workflow declares no such key; it declares: {names} "
                    "(update_state(remove_keys=[…]) takes one away that an older version left)",
                )
        some = {key: values[key] for key in typed}
        if some:
            declared.check_some(some, where)


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
