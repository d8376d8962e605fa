"""JSON Schema: whether a value fits, in words for who sent it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pydantic


def misfit(schema: Mapping[str, Any] | bool, value: Any) -> str:
    """What is wrong with a value, or an empty text. Raises ValueError for a schema that is none."""
    validator = _validator(schema)
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(map(str, error.instance_path))
        return f"{place}: {error.message}" if place else str(error.message)
    return ""


def schema_from(given: Any) -> Mapping[str, Any]:
    """A JSON schema as it is, or that of a type (a pydantic model, a dataclass, `int`). Raises ValueError for what is neither."""
    if isinstance(given, Mapping):
        check_schema(given)
        return given
    wrong = f"give a JSON schema or a type, and not {given!r}"
    if isinstance(given, str):
        # pydantic would take it for the name of a type.
        raise ValueError(wrong)
    try:
        return pydantic.TypeAdapter(given).json_schema()
    except (pydantic.errors.PydanticUserError, NameError) as error:
        raise ValueError(wrong) from error


def check_schema(schema: Mapping[str, Any] | bool) -> None:
    """Raises ValueError for a schema that is none."""
    _validator(schema)


def _validator(schema: Mapping[str, Any] | bool) -> Any:
    try:
        return jsonschema_rs.validator_for(dict(schema) if isinstance(schema, Mapping) else schema)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(f"not a JSON schema: {error.message}") from None
