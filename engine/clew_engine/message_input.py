"""A user's message as callers write it: a text, parts, or parts as the plain dicts that `message_view` shows."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any

from clew_engine.errors import ArgumentInvalidError
from clew_engine.message_parts import IN_MESSAGES
from clew_engine.messages import (
    MEDIA_KINDS,
    DataPart,
    MediaPart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    content_of,
)
from clew_engine.state import encoded_value

Input = str | Part | Iterable[Part | Mapping[str, Any]]

# What a part of each type may have: what is read here, and what `messages` shows beside it.
_MEDIA_KEYS = frozenset({"mime_type", "data", "uri", "file_id", "name"})
_PART_KEYS = {
    "text": frozenset({"text"}),
    "data": frozenset({"data"}),
    **dict.fromkeys(MEDIA_KINDS, _MEDIA_KEYS),
    "tool_call": frozenset({"id", "name", "args"}),
    "tool_result": frozenset({"tool_call_id", "name", "content", "is_error", "outcome", "structured"}),
}
_ANY_PART = frozenset({"type", "part_id", "provider"})
# What a message may have: what is read of a new one, and what `messages` shows beside it.
MESSAGE_KEYS = frozenset({"id", "role", "content", "metadata"}) | {
    "created_at_ms",
    "position",
    "version",
    "model",
    "usage",
    "finish_reason",
    "provider",
}


def input_of(message: Input, field: str = "input") -> tuple[Part, ...]:
    """The parts. Raises ArgumentInvalidError, or StateInvalidError for data that is no JSON."""
    if isinstance(message, Iterable) and not isinstance(message, str | bytes | Mapping):
        message = [_part(part, f"content.parts[{index}]") for index, part in enumerate(message)]
    try:
        return content_of(message)  # type: ignore[arg-type]  # what it refuses is refused here
    except ValueError as error:
        raise ArgumentInvalidError(field, str(error)) from None


def check_keys(given: Mapping[str, Any], known: frozenset[str], field: str) -> None:
    """Raises ArgumentInvalidError, naming them, for keys that nothing would be done with."""
    others = [key for key in given if key not in known]
    if others:
        names = ", ".join(map(repr, others))
        raise ArgumentInvalidError(field, f"there is no {names[:200]} here; there may be {', '.join(sorted(known))}")


def _part(part: Any, field: str) -> Any:
    if type(part) in IN_MESSAGES:
        return part
    if not isinstance(part, Mapping):
        raise ArgumentInvalidError(field, f"a part (a dict) is due here, not {type(part).__name__}")
    kind = part.get("type")
    if isinstance(kind, str) and kind in _PART_KEYS:
        check_keys(part, _PART_KEYS[kind] | _ANY_PART, field)
    try:
        if kind == "text":
            return TextPart(part["text"], part_id=part.get("part_id"))
        if kind == "data":
            return DataPart(encoded_value(part["data"], f"{field}.data_json"), part_id=part.get("part_id"))
        if isinstance(kind, str) and kind in MEDIA_KINDS:
            return _media(kind, part)
        if kind == "tool_call":
            args = part.get("args", {})
            return ToolCallPart(part["id"], part["name"], args if isinstance(args, str) else _json(args, field))
        if kind == "tool_result":
            return _result(part, field)
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentInvalidError(field, f"{kind} part: {error}") from None
    raise ArgumentInvalidError(field, f"a part to send is text, data, {', '.join(sorted(MEDIA_KINDS))}, not {kind!r}")


def _result(part: Mapping[str, Any], field: str) -> ToolResultPart:
    """Of `is_error` and `outcome` one is enough."""
    content = part.get("content", ())
    outcome: Any = part.get("outcome") or ("failed" if part.get("is_error") else "done")
    return ToolResultPart(
        part["tool_call_id"],
        part.get("name", ""),
        (TextPart(content),) if isinstance(content, str) else tuple(_part(each, field) for each in content),
        encoded_value(part["structured"], f"{field}.structured") if "structured" in part else None,
        is_error=outcome != "done",
        outcome=outcome,
    )


def _json(value: Any, field: str) -> str:
    return encoded_value(value, f"{field}.args").decode()


def _media(kind: Any, part: Mapping[str, Any]) -> MediaPart:
    data = part.get("data")
    return MediaPart(
        kind,
        part["mime_type"],
        data=b64decode(data, validate=True) if isinstance(data, str) else data,
        uri=part.get("uri"),
        file_id=part.get("file_id"),
        name=part.get("name"),
        part_id=part.get("part_id"),
    )
