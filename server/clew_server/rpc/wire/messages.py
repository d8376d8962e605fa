"""Messages and their parts, as they are read."""

from __future__ import annotations

from functools import cache

from clew.v1 import message_pb2 as pb
from clew_engine.messages import (
    DataPart,
    MediaPart,
    Message,
    Outcome,
    Part,
    Provider,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
)
from clew_server.rpc.wire.scalars import enum_name, json_text, put_time


def to_message(message: Message, *, reasoning: bool = True) -> pb.Message:
    """A message; without `reasoning` the parts that hold thoughts are left out."""
    wire = pb.Message()
    put_message(message, wire, reasoning=reasoning)
    return wire


def put_message(message: Message, wire: pb.Message, *, reasoning: bool = True) -> None:
    """As `to_message`, into a message that is there."""
    wire.id = message.id
    wire.role = _role(message.role)
    for part in message.content:
        if reasoning or not isinstance(part, ReasoningPart):
            put_part(part, wire.content.add())
    wire.position = message.position
    wire.version = message.version
    put_time(message.created_at_ms, wire.create_time)
    wire.model = message.model or ""
    if message.usage:
        wire.usage.CopyFrom(to_usage(message.usage))
    wire.finish_reason = message.finish_reason or ""
    if message.provider:
        wire.provider.CopyFrom(to_provider(message.provider))
    wire.metadata_json = json_text(message.metadata)


def put_part(part: Part, wire: pb.Part) -> None:
    """A part of any kind."""
    wire.id = part.part_id or ""
    if part.provider:
        wire.provider.CopyFrom(to_provider(part.provider))
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
            call = wire.tool_call
            call.id, call.name, call.arguments_json = part.id, part.name, part.args
        case ToolResultPart():
            _put_result(part, wire.tool_result)
        case DataPart(data=data):
            wire.data_json = data.decode()
        case UnknownPart(json=json):
            wire.unknown_json = json.decode()


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


def _put_result(part: ToolResultPart, wire: pb.ToolResult) -> None:
    wire.tool_call_id = part.tool_call_id
    wire.name = part.name
    for item in part.content:
        put_part(item, wire.content.add())
    if part.structured is not None:
        wire.structured_json = part.structured.decode()
    wire.is_error = part.is_error
    wire.outcome = to_outcome(part.outcome)


@cache
def to_outcome(outcome: Outcome) -> pb.ToolOutcome.ValueType:
    """How a call ended."""
    return pb.ToolOutcome.Value(enum_name("TOOL_OUTCOME", outcome))


@cache
def _role(role: Role) -> pb.Role.ValueType:
    return pb.Role.Value(enum_name("ROLE", role))
