"""Messages as the bytes on disk: compact JSON, without the id, place and time that are columns of their row.

A plain text costs `{"role":"user","text":""}` beside itself. Text is the default kind of a part; every other kind names
itself in `type`. Raw JSON (`structured`, `data`) is kept as text inside a string, so that not a digit of it changes.
What is not known here is carried along in `extra` or an `UnknownPart`.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import orjson

from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Part,
    Provider,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
)

_USAGE = ("in", "out", "cached", "cache_write", "reasoning")


def encode_message(message: Message) -> bytes:
    """The stored body. Raises ValueError, naming the field, for a value that JSON cannot hold."""
    body: dict[str, Any] = {"role": message.role}
    content = message.content
    if len(content) == 1 and type(content[0]) is TextPart and _is_bare(content[0]):
        body["text"] = content[0].text
    else:
        body["content"] = [_encode_part(part) for part in content]
    if message.model is not None:
        body["model"] = message.model
    if message.usage is not None:
        body["usage"] = _encode_usage(message.usage)
    if message.finish_reason is not None:
        body["finish"] = message.finish_reason
    if message.provider is not None:
        body["provider"] = _encode_provider(message.provider)
    if message.metadata is not None:
        body["metadata"] = _plain_json(message.metadata, "metadata")
    if message.extra:
        body |= {key: value for key, value in message.extra.items() if key not in body}
    return _dump(body)


def decode_message(body: bytes, *, message_id: str, created_at_ms: int, position: int = 0, version: int = 0) -> Message:
    """The message of a stored body and its row's columns. Raises ValueError for what no version wrote."""
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"message {message_id} is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError(f"message {message_id} is not a JSON object")
    try:
        return _message(fields, message_id, created_at_ms, position, version)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"message {message_id} is malformed: {type(error).__name__} {error}") from None


def _message(fields: dict[str, Any], message_id: str, created_at_ms: int, position: int, version: int) -> Message:
    role = fields.pop("role")
    text = fields.pop("text", None)
    content = (TextPart(text),) if text is not None else tuple(_decode_part(part) for part in fields.pop("content"))
    if not fields:
        return Message(message_id, role, content, created_at_ms, position, version)
    usage = fields.pop("usage", None)
    provider = fields.pop("provider", None)
    return Message(
        message_id,
        role,
        content,
        created_at_ms,
        position,
        version,
        fields.pop("model", None),
        None if usage is None else Usage(*(usage.get(key, 0) for key in _USAGE)),
        fields.pop("finish", None),
        None if provider is None else Provider(**provider),
        fields.pop("metadata", None),
        fields or None,
    )


def _is_bare(part: Part) -> bool:
    return part.part_id is None and part.provider is None and not part.extra


def _encode_part(part: Part) -> dict[str, Any] | orjson.Fragment:
    if isinstance(part, UnknownPart):
        return orjson.Fragment(part.json)
    fields = _ENCODERS[type(part)](part)
    if part.part_id is not None:
        fields["part_id"] = part.part_id
    if part.provider is not None:
        fields["provider"] = _encode_provider(part.provider)
    if part.extra:
        fields |= {key: value for key, value in part.extra.items() if key not in fields}
    return fields


def _encode_media(part: MediaPart) -> dict[str, Any]:
    fields: dict[str, Any] = {"type": part.kind, "mime": part.mime_type}
    if part.data is not None:
        fields["data"] = b64encode(part.data).decode()
    names = {"uri": part.uri, "file_id": part.file_id, "name": part.name}
    return fields | {key: value for key, value in names.items() if value is not None}


def _encode_result(part: ToolResultPart) -> dict[str, Any]:
    fields: dict[str, Any] = {"type": "tool_result", "call": part.tool_call_id, "name": part.name}
    if len(part.content) == 1 and type(part.content[0]) is TextPart and _is_bare(part.content[0]):
        fields["text"] = part.content[0].text
    elif part.content:
        fields["content"] = [_encode_part(item) for item in part.content]
    if part.structured is not None:
        fields["structured"] = part.structured.decode()
    if part.is_error:
        fields["is_error"] = True
    if part.outcome != "done":
        fields["outcome"] = part.outcome
    return fields


_ENCODERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    TextPart: lambda part: {"text": part.text},
    ReasoningPart: lambda part: {"type": "reasoning", "reasoning": part.reasoning},
    MediaPart: _encode_media,
    ToolCallPart: lambda part: {"type": "tool_call", "id": part.id, "name": part.name, "args": part.args},
    ToolResultPart: _encode_result,
    DataPart: lambda part: {"type": "data", "data": part.data.decode()},
}


def _decode_part(fields: dict[str, Any]) -> Part:
    if "type" not in fields:
        return TextPart(fields.pop("text"), **_common(fields))
    decoder = _DECODERS.get(fields["type"])
    if decoder is None:
        return UnknownPart(orjson.dumps(fields))
    kind = fields.pop("type")
    return decoder(kind, fields)


def _decode_media(kind: Any, fields: dict[str, Any]) -> MediaPart:
    data = fields.pop("data", None)
    return MediaPart(
        kind,
        fields.pop("mime"),
        None if data is None else b64decode(data, validate=True),
        fields.pop("uri", None),
        fields.pop("file_id", None),
        fields.pop("name", None),
        **_common(fields),
    )


def _decode_result(_kind: str, fields: dict[str, Any]) -> ToolResultPart:
    text = fields.pop("text", None)
    content = fields.pop("content", ())
    structured = fields.pop("structured", None)
    return ToolResultPart(
        fields.pop("call"),
        fields.pop("name"),
        (TextPart(text),) if text is not None else tuple(_decode_part(part) for part in content),
        None if structured is None else structured.encode(),
        fields.pop("is_error", False),
        fields.pop("outcome", "done"),
        **_common(fields),
    )


def _decode_call(_kind: str, fields: dict[str, Any]) -> ToolCallPart:
    return ToolCallPart(fields.pop("id"), fields.pop("name"), fields.pop("args"), **_common(fields))


_DECODERS: dict[str, Callable[[Any, dict[str, Any]], Part]] = {
    "reasoning": lambda _kind, fields: ReasoningPart(fields.pop("reasoning"), **_common(fields)),
    "image": _decode_media,
    "audio": _decode_media,
    "video": _decode_media,
    "document": _decode_media,
    "tool_call": _decode_call,
    "tool_result": _decode_result,
    "data": lambda _kind, fields: DataPart(fields.pop("data").encode(), **_common(fields)),
}


def _common(fields: dict[str, Any]) -> dict[str, Any]:
    """What every kind of part may carry, and whatever else is left. To be called when a part's own keys are gone."""
    if not fields:
        return {}
    provider = fields.pop("provider", None)
    return {
        "part_id": fields.pop("part_id", None),
        "provider": None if provider is None else Provider(**provider),
        "extra": fields or None,
    }


def _encode_usage(usage: Usage) -> dict[str, int]:
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, usage.cache_write_tokens)
    return {key: count for key, count in zip(_USAGE, (*counts, usage.reasoning_tokens), strict=True) if count}


def _encode_provider(provider: Provider) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": provider.name}
    if provider.id is not None:
        fields["id"] = provider.id
    if provider.signature is not None:
        fields["signature"] = provider.signature
    if provider.details is not None:
        fields["details"] = _plain_json(provider.details, "provider.details")
    return fields


def _plain_json(value: Any, field: str) -> Any:
    """The value itself if JSON can hold it without loss: orjson would turn NaN into null without a word."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            _plain_json(item, f"{field}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _plain_json(item, f"{field}[{index}]")
    elif isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{field} must be a finite number, not {value}")
    elif value is not None and not isinstance(value, str | int):
        raise ValueError(f"{field} must be a JSON value, not {type(value).__name__}")
    return value


def _dump(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError as error:  # a lone surrogate, an integer over 64 bits, a key that is no text
        raise ValueError(f"metadata, details or an unknown field cannot be stored: {error}") from None
