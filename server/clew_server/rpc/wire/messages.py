"""Messages and their parts, as they are read."""

from __future__ import annotations

from clew.v1 import message_pb2 as pb
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
from clew_server.rpc.wire.scalars import enum_name, json_text, timestamp


def to_message(message: Message, *, reasoning: bool = True) -> pb.Message:
    """A message; without `reasoning` the parts that hold thoughts are left out."""
    content = message.content
    if not reasoning:
        content = tuple(part for part in content if not isinstance(part, ReasoningPart))
    return pb.Message(
        id=message.id,
        role=pb.Role.Value(enum_name("ROLE", message.role)),
        content=[to_part(part) for part in content],
        position=message.position,
        version=message.version,
        create_time=timestamp(message.created_at_ms),
        model=message.model or "",
        usage=to_usage(message.usage) if message.usage else None,
        finish_reason=message.finish_reason or "",
        provider=to_provider(message.provider) if message.provider else None,
        metadata_json=json_text(message.metadata),
    )


def to_part(part: Part) -> pb.Part:
    """A part of any kind."""
    wire = pb.Part(id=part.part_id or "", provider=to_provider(part.provider) if part.provider else None)
    match part:
        case TextPart(text=text):
            wire.text.text = text
            # A message field of a oneof that is empty has to be set all the same.
            wire.text.SetInParent()
        case ReasoningPart(reasoning=reasoning):
            wire.reasoning.reasoning = reasoning
            wire.reasoning.SetInParent()
        case MediaPart(kind=kind):
            getattr(wire, kind).CopyFrom(_media(part))
        case ToolCallPart():
            wire.tool_call.CopyFrom(pb.ToolCall(id=part.id, name=part.name, arguments_json=part.args))
        case ToolResultPart():
            wire.tool_result.CopyFrom(_result(part))
        case DataPart(data=data):
            wire.data_json = data.decode()
        case UnknownPart(json=json):
            wire.unknown_json = json.decode()
    return wire


def to_provider(provider: Provider) -> pb.Provider:
    """What only a model's provider understands."""
    return pb.Provider(
        name=provider.name,
        id=provider.id or "",
        signature=provider.signature or "",
        details_json=json_text(provider.details),
    )


def to_usage(usage: Usage) -> pb.Usage:
    """Tokens."""
    return pb.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _media(part: MediaPart) -> pb.MediaPart:
    wire = pb.MediaPart(mime_type=part.mime_type, name=part.name or "")
    for source in ("data", "uri", "file_id"):
        value = getattr(part, source)
        if value is not None:
            setattr(wire, source, value)
    return wire


def _result(part: ToolResultPart) -> pb.ToolResult:
    return pb.ToolResult(
        tool_call_id=part.tool_call_id,
        name=part.name,
        content=[to_part(item) for item in part.content],
        structured_json=None if part.structured is None else part.structured.decode(),
        is_error=part.is_error,
        outcome=pb.ToolOutcome.Value(enum_name("TOOL_OUTCOME", part.outcome)),
    )
