"""Whatever a model does, its run ends with a word, and the thread goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from clew_engine.messages import ReasoningPart, TextPart, ToolCallPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk
from tests.scenarios.scripts import Ask, Gate, ask, rejected, unavailable
from tests.scenarios.world import World


class RawModel:
    """Yields what it is given, whether that is a stream of a model or not."""

    name = "raw"

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.requests = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The items, the first time; then a plain reply."""
        self.requests += 1
        for item in self.items if self.requests <= 3 else (response(TextPart("ok")),):
            if isinstance(item, BaseException):
                raise item
            yield item


def response(*content: Any, finish: str = "stop") -> ModelResponse:
    """A whole reply."""
    return ModelResponse(content, Usage(1, 1), finish, "raw")


BAD: dict[str, tuple[tuple[Any, ...], str]] = {
    "raises": ((ValueError("boom"),), "model_rejected"),
    "raises in mid-stream": ((TextChunk(0, "half"), ValueError("boom")), "model_rejected"),
    "raises a lone surrogate": ((ValueError("\ud800"),), "model_rejected"),
    "raises 10 MB": ((ValueError("x" * 10_000_000),), "model_rejected"),
    "cancels itself": ((asyncio.CancelledError(),), "model_unavailable"),
    "exits": ((SystemExit(1),), "model_rejected"),
    "is down": ((unavailable(),), "model_unavailable"),
    "refuses": ((rejected(),), "model_rejected"),
    "ends without a reply": ((TextChunk(0, "half"),), "model_incomplete"),
    "says nothing at all": ((), "model_incomplete"),
    "answers with nothing": ((response(),), "model_incomplete"),
    "answers with an empty text": ((response(TextPart("")),), "model_incomplete"),
    "says a lone surrogate": ((TextChunk(0, "\ud800"),), "model_rejected"),
    "yields what is no event": (("text",), "model_rejected"),
    "answers with more than a message may hold": ((response(TextPart("x" * 4_000_000)),), "model_rejected"),
    "calls with more than a message may hold": ((response(ToolCallPart("c", "t", "x" * 4_000_000)),), "model_rejected"),
}


@pytest.mark.parametrize("how", BAD)
async def test_a_model_that(world: World, how: str) -> None:
    items, code = BAD[how]
    world.agent(model=RawModel(*items))
    thread = await world.thread()
    turn = await thread.send()
    assert (turn.failure, turn.end.data["message"] != "") == (code, True)
    assert len(turn.end.data["message"]) < 5000
    assert (await thread.info())["run"] is None
    for _ in range(3):
        turn = await thread.retry()
        if turn.status == "completed":
            break
    assert turn.text == "ok"


async def test_what_may_be_mended_is_asked_again_three_times_at_most(world: World) -> None:
    model = world.agent(unavailable(), unavailable(), "ok")
    turn = await (await world.thread()).send()
    assert (turn.text, len(model.requests)) == ("ok", 3)
    assert len(turn.of("message_discarded")) == 2


async def test_what_is_rejected_is_not_asked_again(world: World) -> None:
    model = world.agent(rejected(), "ok")
    turn = await (await world.thread()).send()
    assert (turn.failure, turn.end.data["retryable"], len(model.requests)) == ("model_rejected", False, 1)


async def test_a_model_that_hangs_can_be_cancelled(world: World) -> None:
    gate = Gate()

    async def hang() -> None:
        gate.reached.set()
        await asyncio.Event().wait()

    world.agent([hang], "ok")
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.retry()).text == "ok"


async def test_a_model_that_swallows_its_cancellation_does_not_hold_the_thread(world: World) -> None:
    gate, never = Gate(), asyncio.Event()

    async def stubborn() -> None:
        while not never.is_set():
            try:
                gate.reached.set()
                await never.wait()
            except asyncio.CancelledError:
                continue

    world.tune(cancel_grace_s=0.05)
    world.agent([stubborn, "late"], "ok")
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    assert (await thread.cancel())["failure_code"] == "cancelled"
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.retry()).text == "ok"
    never.set()


def add(a: int, b: int = 0) -> int:
    """A tool with arguments to get wrong."""
    return a + b


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ask("nowhere"), "there is no tool 'nowhere'"),
        (ask("add", ""), "a: Field required"),
        (ask("add", "{"), "not a JSON object"),
        (ask("add", "[1]"), "invalid arguments"),
        (ask("add", '{"a": "many"}'), "a: "),
        (ask("add", '{"a": 1, "c": 2}'), "c: "),
        (ask("add", '{"a": NaN}'), "not a JSON object"),
        (ask("add", '{"a": 1, "a": 2}'), "stands twice"),
        (ask("add", '{"a": ' + "[" * 1000 + "]" * 1000 + "}"), "deep"),
        (ask("add", '{"a": "\\ud800"}'), "surrogate"),
        (ask("", "{}"), "there is no tool ''"),
    ],
    ids=["unknown", "empty", "cut", "list", "type", "extra", "nan", "twice", "deep", "surrogate", "nameless"],
)
async def test_a_call_that_cannot_run_is_told_to_the_model(world: World, call: Ask, told: str) -> None:
    model = world.agent(call, "sorry", tools=[add])
    turn = await (await world.thread()).send()
    assert (turn.status, turn.text) == ("completed", "sorry")
    outcome, text = model.heard()[-1]
    assert outcome == "failed"
    assert told in text


async def test_calls_under_the_same_id_get_ids_of_our_own_and_each_its_result(world: World) -> None:
    model = world.agent([ask("add", a=1), ask("add", a=2)], [ask("add", a=3)], "ok", tools=[add])
    thread = await world.thread()
    await thread.send()
    assert [text for outcome, text in model.heard() if outcome == "done"] == ["1", "2", "3"]
    calls = [
        part["id"] for message in await thread.messages() for part in message["content"] if part["type"] == "tool_call"
    ]
    assert len(set(calls)) == 3
    assert "same" not in calls


async def test_a_gated_call_with_invalid_arguments_is_not_asked_about(world: World) -> None:
    model = world.agent(ask("add", '{"a": "many"}'), "sorry", tools=[add], approve=True)
    assert (await (await world.thread()).send()).status == "completed"
    assert model.heard()[-1][0] == "failed"


async def test_a_reply_of_a_thought_alone_is_kept(world: World) -> None:
    world.agent(model=RawModel(response(ReasoningPart("hm"))))
    assert (await (await world.thread()).send()).status == "completed"


async def test_the_model_hears_the_conversation_in_order(world: World) -> None:
    model = world.agent("one", ask("add", a=1), "two", "three", tools=[add])
    thread = await world.thread()
    for text in ("first", "second", "third"):
        await thread.send(text)
    assert model.heard() == [
        ("user", "first"),
        ("assistant", "one"),
        ("user", "second"),
        ("assistant", ""),
        ("done", "1"),
        ("assistant", "two"),
        ("user", "third"),
    ]
