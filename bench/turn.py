"""The turn that everything here runs: a message, a model step with two calls, two tools, a last model step; 26 events."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from bench.text import ANSWER, ARGS, PLAN, RESULT
from clew_engine import Agent, Storage
from clew_engine.messages import TextPart, ToolCallPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk

_CALLS = (ToolCallPart("", "look_up", ARGS), ToolCallPart("", "check", ARGS))
_USAGE = Usage(input_tokens=700, output_tokens=120)
# Without the 15 deltas there are 11 events in the log.
_PLAN_DELTAS, _ANSWER_DELTAS = 3, 12
EVENTS = 11 + _PLAN_DELTAS + _ANSWER_DELTAS


class ScriptedModel:
    """Answers at once: the plan and two calls to a message, the answer to their results."""

    name = "scripted"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The chunks and then the reply."""
        answering = request.messages[-1].role == "tool"
        text, deltas = (ANSWER, _ANSWER_DELTAS) if answering else (PLAN, _PLAN_DELTAS)
        for chunk in _cut(text, deltas):
            yield TextChunk(0, chunk)
        content = (TextPart(text),) if answering else (TextPart(text), *_CALLS)
        yield ModelResponse(content, _USAGE, "stop" if answering else "tool_calls", self.name)


async def look_up(order: str) -> str:
    """Look an order up."""
    return RESULT


async def check(order: str) -> str:
    """Check an order."""
    return RESULT


def bench_agent(storage: Storage | None = None) -> Agent:
    """The agent that takes the turn."""
    return Agent("bench", model=ScriptedModel(), tools=(look_up, check), storage=storage)


def _cut(text: str, pieces: int) -> list[str]:
    size = -(-len(text) // pieces)
    return [text[start : start + size] for start in range(0, len(text), size)]
