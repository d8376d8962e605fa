"""Our messages as pydantic-ai's, and its responses as ours. Everything else of the project knows only one side.

Tool calls go out under our ids, call and result alike; items' ids of a provider do not go out at all, since a provider
would use its own stored copy of an item and not what we hold. What is signed goes to the one who signed it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast, get_args

import orjson
from pydantic_ai import messages as theirs
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from clew_engine import messages as ours
from clew_engine.models.port import ModelRequest, ModelResponse

# What JSON and databases of providers choke on; tab, line feed and carriage return are text.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_FILE_KEEPERS = frozenset(get_args(theirs.UploadedFileProviderName))
_OUTCOMES: Mapping[ours.Outcome, Literal["success", "failed", "denied", "interrupted"]] = {
    "done": "success",
    "failed": "failed",
    "rejected": "denied",
    "cancelled": "interrupted",
    "unknown": "interrupted",
}
_URLS: Mapping[ours.MediaKind, Callable[..., theirs.MultiModalContent]] = {
    "image": theirs.ImageUrl,
    "audio": theirs.AudioUrl,
    "video": theirs.VideoUrl,
    "document": theirs.DocumentUrl,
}


def to_parameters(request: ModelRequest, native_schema: bool) -> ModelRequestParameters:
    """The request beside its messages; a schema is enforced by the provider where it can, else asked for in words."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in request.tools
    ]
    instructions = [theirs.InstructionPart(content=escaped(request.instructions))] if request.instructions else None
    if request.output_schema is None:
        return ModelRequestParameters(function_tools=tools, instruction_parts=instructions)
    return ModelRequestParameters(
        function_tools=tools,
        instruction_parts=instructions,
        output_mode="native" if native_schema else "prompted",
        output_object=OutputObjectDefinition(json_schema=dict(request.output_schema), name="reply"),
    )


def to_history(messages: Sequence[ours.Message], system: str) -> list[theirs.ModelMessage]:
    """The transcript for the provider named `system`."""
    history: list[theirs.ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            if parts := [part for item in message.content for part in _response_parts(item, system)]:
                history.append(
                    theirs.ModelResponse(parts=parts, provider_name=_maker(message), model_name=message.model)
                )
            continue
        asked = _request_parts(message, system)
        last = history[-1] if history else None
        if isinstance(last, theirs.ModelRequest):
            last.parts = [*last.parts, *asked]
        else:
            history.append(theirs.ModelRequest(parts=asked))
    return history


def from_response(response: theirs.ModelResponse, asked_for: str) -> ModelResponse:
    """A whole response; its parts keep their places, so that the indexes of its chunks are theirs."""
    content = tuple(_our_part(part, response.provider_name) for part in response.parts)
    calls = any(isinstance(part, ours.ToolCallPart) for part in content)
    return ModelResponse(
        content=content,
        usage=_usage(response),
        finish_reason=_finish_reason(response.finish_reason, calls),
        model=response.model_name or asked_for,
        provider=_provider(response.provider_name, response.provider_response_id, None, response.provider_details),
    )


def _finish_reason(reason: str | None, calls: bool) -> str:
    """Some APIs say `stop` although they stopped for a tool."""
    if reason in (None, "stop"):
        return "tool_call" if calls else "stop"
    return reason


def escaped(text: str) -> str:
    """The text with its control characters spelt out, as a model may read them."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def mended(text: str) -> str:
    """The text with its surrogates joined to characters, and one that is left alone replaced: JSON may hold any."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _maker(message: ours.Message) -> str | None:
    return message.provider.name if message.provider is not None else None


def _request_parts(message: ours.Message, system: str) -> list[theirs.ModelRequestPart]:
    if message.role == "system":
        return [theirs.SystemPromptPart(content=escaped(message.text))]
    if message.role == "tool":
        return [_tool_return(result, system) for result in message.tool_results]
    content = [item for part in message.content if (item := _shown(part, system)) is not None]
    only = content[0] if len(content) == 1 else None
    return [theirs.UserPromptPart(content=only if isinstance(only, str) else content)]


def _response_parts(part: ours.Part, system: str) -> Iterator[theirs.ModelResponsePart]:
    made_here = part.provider is not None and part.provider.name == system
    signed: dict[str, Any] = {}
    if made_here and part.provider is not None:
        signed = {"provider_name": system, "provider_details": dict(part.provider.details or {}) or None}
    match part:
        case ours.TextPart(text):
            if text:
                yield theirs.TextPart(content=escaped(text), **signed)
        case ours.ReasoningPart(reasoning):
            # Another provider could neither check it nor should it read it as something that was said.
            if made_here and part.provider is not None:
                made = part.provider
                yield theirs.ThinkingPart(content=reasoning, id=made.id, signature=made.signature, **signed)
        case ours.ToolCallPart(call_id, name, args):
            yield theirs.ToolCallPart(tool_name=name, args=escaped(args), tool_call_id=call_id, **signed)
        case ours.MediaPart(_, mime_type, bytes() as data):
            yield theirs.FilePart(content=theirs.BinaryContent(data=data, media_type=mime_type), **signed)
        case _:
            shown = _shown(part, system)
            if isinstance(shown, str):
                yield theirs.TextPart(content=shown)


def _tool_return(result: ours.ToolResultPart, system: str) -> theirs.ToolReturnPart:
    content = [item for part in result.shown if (item := _shown(part, system)) is not None]
    if all(isinstance(item, str) for item in content):
        returned: Any = "\n".join(cast("list[str]", content))
    else:
        returned = content
    outcome = "failed" if result.is_error and result.outcome == "done" else _OUTCOMES[result.outcome]
    return theirs.ToolReturnPart(
        tool_name=result.name, content=returned, tool_call_id=result.tool_call_id, outcome=outcome
    )


def _shown(part: ours.Part, system: str) -> theirs.UserContent | None:
    """What a user's or tool's part looks like to a model; what it cannot be shown is named."""
    match part:
        case ours.TextPart(text):
            return escaped(text)
        case ours.DataPart(data):
            return escaped(data.decode())
        case ours.MediaPart():
            return _media(part, system)
        case _:
            return None


def _media(part: ours.MediaPart, system: str) -> theirs.UserContent:
    if part.data is not None:
        return theirs.BinaryContent(data=part.data, media_type=part.mime_type)
    if part.uri is not None:
        return cast("theirs.UserContent", _URLS[part.kind](part.uri, media_type=part.mime_type))
    keeper = part.provider.name if part.provider is not None else system
    if keeper == system and system in _FILE_KEEPERS:
        name = cast("theirs.UploadedFileProviderName", system)
        return theirs.UploadedFile(file_id=cast("str", part.file_id), provider_name=name, media_type=part.mime_type)
    return f"[{part.kind} {part.name or part.file_id} is kept at {keeper} and cannot be shown here]"


def _our_part(part: theirs.ModelResponsePart, maker: str | None) -> ours.Part:
    match part:
        case theirs.TextPart():
            return ours.TextPart(mended(part.content), provider=_provider(maker, part.id, None, part.provider_details))
        case theirs.ThinkingPart():
            provider = _provider(part.provider_name or maker, part.id, part.signature, part.provider_details)
            return ours.ReasoningPart(mended(part.content), provider=provider)
        case theirs.ToolCallPart():
            provider = _provider(maker, part.tool_call_id, None, part.provider_details)
            return ours.ToolCallPart(part.tool_call_id, mended(part.tool_name), _args(part.args), provider=provider)
        case theirs.FilePart():
            return _our_media(part.content, _provider(maker, part.id, None, part.provider_details))
        case _:
            return ours.UnknownPart(orjson.dumps({"type": f"provider_{part.part_kind}"}))


def _our_media(content: theirs.BinaryContent, provider: ours.Provider | None) -> ours.MediaPart:
    first = content.media_type.split("/")[0]
    kind = first if first in {"image", "audio", "video"} else "document"
    return ours.MediaPart(cast("ours.MediaKind", kind), content.media_type, content.data, provider=provider)


def _args(args: str | Mapping[str, Any] | None) -> str:
    """The arguments as written; a model that wrote none means none."""
    if isinstance(args, str) and args:
        return mended(args)
    return orjson.dumps(args).decode() if args else "{}"


def _usage(response: theirs.ModelResponse) -> ours.Usage:
    usage = response.usage
    return ours.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_input_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.details.get("reasoning_tokens", 0),
    )


def _provider(
    name: str | None, its_id: str | None, signature: str | None, details: Mapping[str, Any] | None
) -> ours.Provider | None:
    """What must be kept of the provider's own: not what `finish_reason` and the time of our row already say."""
    kept = {key: value for key, value in (details or {}).items() if key not in {"finish_reason", "timestamp"}}
    values = _json_values(kept) if kept else None
    if name is None or not (its_id or signature or values):
        return None
    return ours.Provider(name, its_id, signature, values or None)


def _json_values(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as JSON that can be stored; the whole of them is not worth a failed run."""
    try:
        values: dict[str, Any] = orjson.loads(orjson.dumps(details, default=_named, option=orjson.OPT_NON_STR_KEYS))
    except TypeError:
        return {}
    return values


def _named(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else repr(value)
