"""What tests make models and tools of: gates that hold a run at a point, and models that say what they are told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from clew_engine.messages import Part, TextPart, ToolCallPart, Usage
from clew_engine.models import ModelError, ModelEvent, ModelRequest, ModelResponse, TextChunk


class Gate:
    """A point in a run: a test waits until it is reached, looks around, and opens it."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def pass_through(self) -> None:
        """Say that the point is reached, and wait to be let through."""
        self.reached.set()
        await self.opened.wait()

    async def wait(self) -> None:
        """Wait until something stands at the gate."""
        await asyncio.wait_for(self.reached.wait(), 10)

    def open(self) -> None:
        """Let through what stands here and all that comes."""
        self.opened.set()


@dataclass(frozen=True)
class Ask:
    """A tool call in an answer; arguments given as text are sent as they are."""

    tool: str
    args: str
    call_id: str = "same"


def ask(tool: str, args: str | None = None, /, **values: Any) -> Ask:
    """An answer calls a tool."""
    return Ask(tool, json.dumps(values) if args is None else args)


async def breathe() -> None:
    """Let others run, in the middle of an answer."""
    await asyncio.sleep(0)


Action = str | Ask | Gate | BaseException | Callable[[], Awaitable[None]] | None
Answer = Action | list[Action]


class ScriptedModel:
    """Gives its answers one after the other, the last one for ever; keeps the requests that it was sent."""

    name = "scripted"

    def __init__(self, *answers: Answer, usage: Usage | None = None) -> None:
        self._answers: list[list[Action]] = [list(each) if isinstance(each, list) else [each] for each in answers]
        self._usage = usage or Usage(3, 2)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Say, wait, fail or call, as the answer says."""
        self.requests.append(request)
        answer = self._answers[min(len(self.requests), len(self._answers)) - 1]
        texts: list[str] = []
        calls: list[Part] = []
        for action in answer:
            if isinstance(action, str):
                texts.append(action)
                yield TextChunk(0, action)
            elif isinstance(action, Ask):
                calls.append(ToolCallPart(action.call_id, action.tool, action.args))
            elif isinstance(action, Gate):
                await action.pass_through()
            elif isinstance(action, BaseException):
                raise action
            elif callable(action):
                await action()
        content = ((TextPart("".join(texts)),) if texts else ()) + tuple(calls)
        yield ModelResponse(content, self._usage, "tool_call" if calls else "stop", self.name)

    def heard(self, request: int = -1) -> list[tuple[str, str]]:
        """What a request told the model: role and text of each message, of results the outcome too."""
        told: list[tuple[str, str]] = []
        for message in self.requests[request].messages:
            results = [(result.outcome, result.text) for result in message.tool_results]
            told += results or [(message.role, message.text)]
        return told


def rejected(message: str = "no") -> ModelError:
    """An error that asking again would not mend."""
    return ModelError("model_rejected", message, retryable=False)


def unavailable(message: str = "down") -> ModelError:
    """An error that asking again may mend."""
    return ModelError("model_unavailable", message, retryable=True)


class Stubborn:
    """A tool, `hold`, that stands at a gate and, when it is cancelled there, at another one before it ends."""

    def __init__(self) -> None:
        self.gate, self.late = Gate(), Gate()

    async def hold(self) -> str:
        """Take its time."""
        try:
            await self.gate.pass_through()
        except asyncio.CancelledError:
            await self.late.pass_through()
        return "late"


class Counted:
    """A tool, `count`, that gives back what it is given and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def count(self, n: int) -> int:
        """Give it back."""
        self.calls.append(n)
        return n
