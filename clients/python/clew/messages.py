"""Messages as the plain dicts that users read and write: `message["content"][0]["text"]` is a plain reply."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clew.errors import ArgumentInvalidError
from clew.json_text import decode_json, encode_json
from clew.usage import Usage
from clew.v1 import message_pb2 as pb
from clew.words import ms_of, number_of, word_of

Message = dict[str, Any]
Part = dict[str, Any]

_MEDIA = ("image", "audio", "video", "document")
# What a part of each type may have: what is read here, and what `messages` shows beside it.
_MEDIA_KEYS = frozenset({"mime_type", "data", "uri", "file_id", "name"})
_PART_KEYS = {
    "text": frozenset({"text"}),
    "data": frozenset({"data"}),
    **dict.fromkeys(_MEDIA, _MEDIA_KEYS),
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


def message_of(wire: pb.Message) -> Message:
    """A message: `id, role, content, created_at_ms, position, version`, and what else is known of it."""
    view: Message = {
        "id": wire.id,
        "role": word_of(pb.Role, wire.role),
        "content": parts_of(wire.content),
        "created_at_ms": ms_of(wire.create_time),
        "position": wire.position,
        "version": wire.version,
    }
    if wire.model:
        view["model"] = wire.model
    if wire.HasField("usage"):
        usage = usage_of(wire.usage)
        view["usage"] = asdict(usage) | {"total_tokens": usage.total_tokens}
    if wire.finish_reason:
        view["finish_reason"] = wire.finish_reason
    if wire.HasField("provider"):
        view["provider"] = _provider(wire.provider, "response_id")
    if wire.metadata_json:
        view["metadata"] = decode_json(wire.metadata_json)
    return view


def usage_of(wire: pb.Usage) -> Usage:
    """Tokens."""
    return Usage(
        wire.input_tokens,
        wire.output_tokens,
        wire.cached_input_tokens,
        wire.cache_write_tokens,
        wire.reasoning_tokens,
    )


def parts_of(wire: Sequence[pb.Part]) -> list[Part]:
    """Parts with their `type`; kinds that this version does not know are left out."""
    return [view for part in wire if (view := _part(part)) is not None]


def content_of(parts: Sequence[Mapping[str, Any]]) -> list[pb.Part]:
    """The parts of a user's message: dicts of type `text`, `image`, `audio`, `video`, `document` or `data`."""
    return [_wire_part(part, f"content.parts[{index}]") for index, part in enumerate(parts)]


def check_keys(given: Mapping[str, Any], known: frozenset[str], field: str) -> None:
    """Raises ArgumentInvalidError, naming them, for keys that nothing would be done with."""
    others = [key for key in given if key not in known]
    if others:
        names = ", ".join(map(repr, others))
        text = f"{field}: there is no {names[:200]} here; there may be {', '.join(sorted(known))}"
        raise ArgumentInvalidError(text, metadata={"field": field})


def _part(wire: pb.Part) -> Part | None:
    kind = wire.WhichOneof("kind")
    read = _READERS.get(kind or "")
    if kind is None or read is None:
        return None
    view = read(getattr(wire, kind))
    if kind in _MEDIA:
        view = {"type": kind, **view}
    if wire.id:
        view["part_id"] = wire.id
    if wire.HasField("provider"):
        view["provider"] = _provider(wire.provider, "id")
    return view


def _media(wire: pb.MediaPart) -> Part:
    view: Part = {"mime_type": wire.mime_type}
    source = wire.WhichOneof("source")
    if source == "data":
        view["data"] = b64encode(wire.data).decode()
    elif source is not None:
        view[source] = getattr(wire, source)
    if wire.name:
        view["name"] = wire.name
    return view


def _result(wire: pb.ToolResult) -> Part:
    view: Part = {
        "type": "tool_result",
        "tool_call_id": wire.tool_call_id,
        "name": wire.name,
        "content": parts_of(wire.content),
        "is_error": wire.is_error,
        "outcome": word_of(pb.ToolOutcome, wire.outcome),
    }
    if wire.HasField("structured_json"):
        view["structured"] = decode_json(wire.structured_json)
        if not wire.content:
            view["content"] = [{"type": "text", "text": wire.structured_json}]
    return view


def tool_call_of(wire: pb.ToolCall) -> Part:
    """A tool call with its `args` parsed, or as the model wrote them where they are no JSON."""
    return {"type": "tool_call", "id": wire.id, "name": wire.name, "args": decode_json(wire.arguments_json, "")}


def _unknown(text: str) -> Part:
    view = decode_json(text)
    return view if isinstance(view, dict) and "type" in view else {"type": "unknown"}


_READERS: dict[str, Callable[[Any], Part]] = {
    "text": lambda wire: {"type": "text", "text": wire.text},
    "reasoning": lambda wire: {"type": "reasoning", "reasoning": wire.reasoning},
    **dict.fromkeys(_MEDIA, _media),
    "tool_call": tool_call_of,
    "tool_result": _result,
    "data_json": lambda text: {"type": "data", "data": decode_json(text)},
    "unknown_json": _unknown,
}


def _provider(wire: pb.Provider, id_name: str) -> dict[str, Any]:
    details = decode_json(wire.details_json)
    fields = {"name": wire.name, id_name: wire.id, "signature": wire.signature, "details": details}
    return {name: value for name, value in fields.items() if value}


def _wire_part(part: Any, field: str) -> pb.Part:
    if not isinstance(part, Mapping):
        text = f"{field}: a part (a dict) is due here, not {type(part).__name__}"
        raise ArgumentInvalidError(text, metadata={"field": field})
    kind = part.get("type")
    if isinstance(kind, str) and kind in _PART_KEYS:
        check_keys(part, _PART_KEYS[kind] | _ANY_PART, field)
    try:
        wire = pb.Part(id=part.get("part_id", ""))
        if kind == "text":
            wire.text.text = part["text"]
        elif kind == "data":
            wire.data_json = encode_json(part["data"], f"{field}.data_json")
        elif isinstance(kind, str) and kind in _MEDIA:
            getattr(wire, str(kind)).CopyFrom(_wire_media(part))
        elif kind == "tool_call":
            wire.tool_call.CopyFrom(_wire_call(part, field))
        elif kind == "tool_result":
            wire.tool_result.CopyFrom(_wire_result(part, field))
        else:
            raise ArgumentInvalidError(
                f"{field}: a part to send is text, data, {', '.join(_MEDIA)}, not {kind!r}", metadata={"field": field}
            )
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentInvalidError(f"{field}: {kind} part: {error}", metadata={"field": field}) from None
    return wire


def _wire_call(part: Mapping[str, Any], field: str) -> pb.ToolCall:
    args = part.get("args", {})
    text = args if isinstance(args, str) else encode_json(args, f"{field}.args")
    return pb.ToolCall(id=part["id"], name=part["name"], arguments_json=text)


def _wire_result(part: Mapping[str, Any], field: str) -> pb.ToolResult:
    """Of `is_error` and `outcome` one is enough."""
    content = part.get("content", ())
    outcome = part.get("outcome") or ("failed" if part.get("is_error") else "done")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return pb.ToolResult(
        tool_call_id=part["tool_call_id"],
        name=part.get("name", ""),
        content=[_wire_part(each, field) for each in parts],
        structured_json=encode_json(part["structured"], f"{field}.structured") if "structured" in part else None,
        is_error=outcome != "done",
        outcome=number_of(pb.ToolOutcome, outcome, f"{field}.outcome"),
    )


def _wire_media(part: Mapping[str, Any]) -> pb.MediaPart:
    data = part.get("data")
    wire = pb.MediaPart(mime_type=part["mime_type"], name=part.get("name", ""))
    if isinstance(data, str):
        wire.data = b64decode(data, validate=True)
    elif data is not None:
        wire.data = data
    for source in ("uri", "file_id"):
        if source in part:
            setattr(wire, source, part[source])
    return wire
