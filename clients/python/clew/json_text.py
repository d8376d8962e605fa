"""JSON as it travels: whole numbers stay whole, and what no server accepts is refused before it is sent."""

from __future__ import annotations

import json
from typing import Any

from clew.errors import StateInvalidError


def encode_json(value: Any, field: str) -> str:
    """The value as JSON text. Raises StateInvalidError, naming the field, for what JSON cannot say (NaN, half of a surrogate pair, an object)."""
    try:
        _check_keys(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise StateInvalidError(f"{field}: {error}; send plain JSON values", metadata={"field": field}) from None
    return text


def encode_object(value: Any, field: str) -> str:
    """As `encode_json`, for what must be an object."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise StateInvalidError(f"{field}: a dict is due here, not {kind}", metadata={"field": field})
    return encode_json(value, field)


def decode_json(text: str | bytes, empty: Any = None) -> Any:
    """The value; `empty` for no text. What is no JSON (a model may have written it) comes back as its text."""
    if not text:
        return empty
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if isinstance(text, str) else text.decode(errors="replace")


def _check_keys(value: Any) -> None:
    """Raises TypeError for keys that are no text: json would send them as text, and they would come back as another thing."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is no text")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)
