"""The fields of a declared type, as pydantic is to check each of them: whichever of them are there, and with the type's own validators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic
from pydantic_core import CoreSchema, SchemaValidator, to_jsonable_python

from clew_engine.json_text import encode

# Where the schema of a model's fields is found, within those of the model and its validators.
_FIELDS = ("model-fields", "dataclass-args", "typed-dict")
# Validators that may take what the type itself does not.
_TAKING = ("function-before", "function-wrap", "function-plain")


@dataclass(frozen=True)
class Fields:
    """`partial` checks an object that has some of the fields; `judged` are those with validators of an author's.

    `whole` says whether the type has validators over all fields, and `taking` whether any may take what its type does not.
    """

    names: tuple[str, ...]
    partial: SchemaValidator
    whole: bool
    taking: bool
    judged: frozenset[str]
    defaults: Mapping[str, Callable[[], bytes]]


def fields_of(adapter: pydantic.TypeAdapter[Any]) -> Fields | None:
    """The fields, or None for a type that has none."""
    schema: Any = adapter.core_schema
    definitions = list(schema["definitions"]) if schema["type"] == "definitions" else []
    known = {each["ref"]: each for each in definitions}
    config, whole = None, False
    inner: Any = schema
    while inner["type"] not in _FIELDS:
        whole = whole or inner["type"].startswith("function-")
        inner = known[inner["schema_ref"]] if inner["type"] == "definition-ref" else inner.get("schema")
        if not isinstance(inner, dict):
            return None
        config = inner.get("config", config)
    config = inner.get("config", config)
    found = inner["fields"]
    by_name = {each["name"]: each for each in found} if isinstance(found, list) else found
    bare = {name: _without_default(field["schema"]) for name, field in by_name.items()}
    partial: Any = {
        "type": "typed-dict",
        "fields": {
            name: {"type": "typed-dict-field", "schema": each, "required": False} for name, each in bare.items()
        },
    }
    if definitions:
        partial = {"type": "definitions", "schema": partial, "definitions": definitions}
    return Fields(
        names=tuple(by_name),
        partial=SchemaValidator(partial, config),
        whole=whole,
        taking=any(each in _TAKING for each in _types(schema)),
        judged=frozenset(name for name, each in bare.items() if _is_judged(each)),
        defaults={name: made for name, each in by_name.items() if (made := _default(each["schema"]))},
    )


def _without_default(schema: Any) -> Any:
    return schema["schema"] if schema["type"] == "default" else schema


def _is_judged(schema: Any) -> bool:
    while schema["type"] == "nullable":
        schema = schema["schema"]
    return bool(schema["type"].startswith("function-"))


def _default(schema: Any) -> Callable[[], bytes] | None:
    if schema["type"] != "default" or schema.get("default_factory_takes_data"):
        return None
    if "default_factory" in schema:
        factory = schema["default_factory"]
        return lambda: encode(to_jsonable_python(factory()))
    value = encode(to_jsonable_python(schema["default"]))
    return lambda: value


def _types(schema: CoreSchema | Any) -> Iterator[str]:
    if isinstance(schema, dict):
        kind = schema.get("type")
        if isinstance(kind, str):
            yield kind
        for name, each in schema.items():
            if name not in ("default", "metadata", "function", "cls"):
                yield from _types(each)
    elif isinstance(schema, list | tuple):
        for each in schema:
            yield from _types(each)
