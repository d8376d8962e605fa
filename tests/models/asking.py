"""Short ways to ask a model in a test."""

from __future__ import annotations

from clew_engine.messages import Message, Part, user_message
from clew_engine.models import Model, ModelEvent, ModelRequest, ModelResponse, ReasoningChunk, TextChunk, ToolSpec

LOOK = ToolSpec("look", "Looks something up.", {"type": "object", "properties": {"q": {"type": "string"}}})


def a_request(*messages: Message | str, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    said = tuple(user_message(message) if isinstance(message, str) else message for message in messages or ("Hi",))
    return ModelRequest("Be kind.", said, tools)


def assistant(*content: Part) -> Message:
    return Message("a", "assistant", content, 0)


async def events_of(model: Model, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


async def reply_of(model: Model, request: ModelRequest | str) -> ModelResponse:
    """The response, after a look at whether the chunks before it say the same."""
    events = await events_of(model, a_request(request) if isinstance(request, str) else request)
    response = events.pop()
    assert isinstance(response, ModelResponse)
    for index, part in enumerate(response.content):
        whole = getattr(part, "text", getattr(part, "reasoning", ""))
        kind = ReasoningChunk if hasattr(part, "reasoning") else TextChunk
        assert "".join(e.text for e in events if isinstance(e, kind) and e.part_index == index) == whole
    return response
