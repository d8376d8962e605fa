"""Parts as the plain dicts that users read. One way only: what is stored is written by `message_codec`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from clew_engine.json_text import JsonError, parse_strict
from clew_engine.message_parts import (
    DataPart,
    MediaPart,
    Part,
    Provider,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)


def view_part(part: Part) -> dict[str, Any]:
    """One part with its `type`; calls show their arguments parsed where they are JSON, else as written."""
    view: dict[str, Any] = _VIEWS[type(part)](part)
    if part.part_id is not None:
        view["part_id"] = part.part_id
    if part.provider is not None:
        view["provider"] = view_provider(part.provider, "id")
    return view


def _media_fields(part: MediaPart) -> dict[str, Any]:
    view: dict[str, Any] = {"type": part.kind, "mime_type": part.mime_type}
    if part.data is not None:
        view["data"] = b64encode(part.data).decode()
    for name in ("uri", "file_id", "name"):
        if (value := getattr(part, name)) is not None:
            view[name] = value
    return view


def _result_fields(part: ToolResultPart) -> dict[str, Any]:
    view: dict[str, Any] = {
        "type": "tool_result",
        "tool_call_id": part.tool_call_id,
        "name": part.name,
        "content": [view_part(item) for item in part.shown],
        "is_error": part.is_error,
        "outcome": part.outcome,
    }
    if part.structured is not None:
        view["structured"] = _parsed(part.structured, part.structured.decode())
    return view


def _unknown_fields(part: UnknownPart) -> dict[str, Any]:
    fields = _parsed(part.json, None)
    return fields if isinstance(fields, dict) else {"type": "unknown"}


_VIEWS: dict[type, Callable[[Any], dict[str, Any]]] = {
    TextPart: lambda part: {"type": "text", "text": part.text},
    ReasoningPart: lambda part: {"type": "reasoning", "reasoning": part.reasoning},
    MediaPart: _media_fields,
    ToolCallPart: lambda part: {
        "type": "tool_call",
        "id": part.id,
        "name": part.name,
        "args": _parsed(part.args, part.args),
    },
    ToolResultPart: _result_fields,
    DataPart: lambda part: {"type": "data", "data": _parsed(part.data, part.data.decode())},
    UnknownPart: _unknown_fields,
}


def view_provider(provider: Provider, id_name: str) -> dict[str, Any]:
    """What is known of the provider; its id is an `id` on a part and a `response_id` on a message."""
    fields = {"name": provider.name, id_name: provider.id, "signature": provider.signature, "details": provider.details}
    return {name: value for name, value in fields.items() if value is not None}


def _parsed(text: str | bytes, otherwise: Any) -> Any:
    """The value, or `otherwise` where the text is not JSON: a model may write anything."""
    try:
        return parse_strict(text)
    except JsonError:
        return otherwise
