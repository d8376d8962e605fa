"""What a caller sends as a message's content."""

from __future__ import annotations

from typing import cast

from clew.v1 import message_pb2 as pb
from clew.v1.run_service_pb2 import SendRequest
from clew_engine.commands.messages import NewMessage
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import parse_strict
from clew_engine.messages import (
    DataPart,
    MediaKind,
    MediaPart,
    Outcome,
    Part,
    Provider,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from clew_server.rpc.wire.scalars import word

_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "document": "document"}


def content_of(request: SendRequest) -> tuple[Part, ...]:
    """The content of a user's message to an agent; none of what a workflow begins with."""
    match request.WhichOneof("input"):
        case "text":
            return (TextPart(request.text),)
        case "content":
            return tuple(part_of(part) for part in request.content.parts)
        case "input_json":
            return ()
        case _:
            raise ArgumentInvalidError("input", "an agent takes `text` or `content`, a workflow `input_json`")


def new_message_of(message: pb.NewMessage) -> NewMessage:
    """A message that a caller adds."""
    role = cast("Role", word("ROLE", pb.Role.Name(message.role)))
    content = tuple(map(_written_part, message.content))
    return NewMessage(role, content, message.id, message.metadata_json.encode())


def _written_part(part: pb.Part) -> Part:
    """A part of a message that a caller adds: also calls and their results."""
    part_id, provider = part.id or None, provider_of(part.provider) if part.HasField("provider") else None
    if part.HasField("tool_call"):
        call = part.tool_call
        return ToolCallPart(call.id, call.name, call.arguments_json, part_id=part_id, provider=provider)
    if not part.HasField("tool_result"):
        return part_of(part)
    result = part.tool_result
    told = cast("Outcome", word("TOOL_OUTCOME", pb.ToolOutcome.Name(result.outcome))) if result.outcome else None
    outcome: Outcome = told or ("failed" if result.is_error else "done")
    try:
        return ToolResultPart(
            result.tool_call_id,
            result.name,
            tuple(map(part_of, result.content)),
            result.structured_json.encode() if result.HasField("structured_json") else None,
            is_error=outcome != "done",
            outcome=outcome,
            part_id=part_id,
            provider=provider,
        )
    except ValueError as error:
        raise ArgumentInvalidError("messages.content.tool_result", str(error)) from None


def part_of(part: pb.Part) -> Part:
    """A part of a kind that a caller may send."""
    part_id, provider = part.id or None, provider_of(part.provider) if part.HasField("provider") else None
    kind = part.WhichOneof("kind")
    if kind == "text":
        return TextPart(part.text.text, part_id=part_id, provider=provider)
    if kind == "data_json":
        return DataPart(part.data_json.encode(), part_id=part_id, provider=provider)
    if kind in _MEDIA:
        media: pb.MediaPart = getattr(part, kind)
        source = media.WhichOneof("source")
        return MediaPart(
            _MEDIA[kind],
            media.mime_type,
            data=media.data if source == "data" else None,
            uri=media.uri if source == "uri" else None,
            file_id=media.file_id if source == "file_id" else None,
            name=media.name or None,
            part_id=part_id,
            provider=provider,
        )
    raise ArgumentInvalidError("content.parts", f"a caller may not send a part of the kind {kind}")


def provider_of(provider: pb.Provider) -> Provider:
    """What only a model's provider understands."""
    return Provider(
        provider.name,
        id=provider.id or None,
        signature=provider.signature or None,
        details=parse_strict(provider.details_json) if provider.details_json else None,
    )
