"""No thread can be wedged: every call has exactly one outcome, whatever its tool does."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from clew_engine import Tool, tool
from tests.scenarios.checks import outcomes
from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.sights import Turn
from tests.scenarios.world import Handle, World


class Unspeakable(Exception):  # noqa: N818 - it is what it says
    """An error that cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@dataclass
class Order:
    """A result that is no JSON value by itself."""

    id: str
    total: float


def raises(error: BaseException) -> Any:
    """A plain function that raises."""

    def bad() -> str:
        raise error

    return bad


def awaits(error: BaseException) -> Any:
    """An async function that raises."""

    async def bad() -> str:
        raise error

    return bad


def returns(value: Any) -> Any:
    """A function that returns something."""

    def bad() -> Any:
        return value

    return bad


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
BAD = {
    "raises": raises(ValueError("bad")),
    "raises in async": awaits(ValueError("bad")),
    "raises stop iteration": raises(StopIteration("bad")),
    "raises stop async iteration": awaits(StopAsyncIteration("bad")),
    "raises generator exit": raises(GeneratorExit()),
    "exits": raises(SystemExit(1)),
    "exits in async": awaits(SystemExit(1)),
    "raises what cannot be told": raises(Unspeakable()),
    "raises a lone surrogate": raises(ValueError("\ud800")),
    "raises 10 MB": raises(ValueError("x" * 10_000_000)),
    "cancels itself": awaits(asyncio.CancelledError()),
    "cancels itself in a thread": raises(asyncio.CancelledError()),
    "times out": raises(TimeoutError()),
    "returns 10 MB": returns("x" * 10_000_000),
    "returns bytes": returns(b"bytes"),
    "returns NaN": returns(float("nan")),
    "returns NaN deep down": returns({"a": [{"b": float("nan")}]}),
    "returns infinity": returns(float("inf")),
    "returns a number no double holds": returns(10**400),
    "returns a lone surrogate": returns("\ud800"),
    "returns a lone surrogate in JSON": returns({"a": "\ud800"}),
    "returns itself within itself": returns(CYCLE),
    "returns an object": returns(object()),
    "returns number keys": returns({1: 2}),
    "returns a module": returns(sys),
}
GOOD: dict[str, tuple[Any, str]] = {
    "text": ("done", "done"),
    "empty text": ("", ""),
    "nothing": (None, "null"),
    "a number": (1.0, "1.0"),
    "2^53+1": (2**53 + 1, "9007199254740993"),
    "NUL": ("a\x00b", "a\x00b"),
    "a mapping": ({"a": [1, None]}, '{"a":[1,null]}'),
    "a tuple": ((1, 2), "[1,2]"),
    "a dataclass": (Order("A-1", 5.0), '{"id":"A-1","total":5.0}'),
    "a set": ({1}, "[1]"),
}


async def played(world: World, bad: Any) -> tuple[Handle, Turn, list[tuple[str, str]]]:
    """A turn in which the model calls the tool, beside a good one."""

    def good() -> str:
        return "good"

    model = world.agent([ask("bad"), ask("good")], "ok", tools=[Tool(bad, name="bad"), good])
    thread = await world.thread()
    turn = await thread.send()
    return thread, turn, model.heard()[-2:]


@pytest.mark.parametrize("how", BAD)
async def test_a_tool_that(world: World, how: str) -> None:
    thread, turn, (bad, good) = await played(world, BAD[how])
    assert (turn.status, bad[0], good) == ("completed", "failed", ("done", "good"))
    assert bad[1], "the model is told why"
    assert len(bad[1]) < 5000
    assert (await thread.info())["run"] is None
    assert [each["version"] for each in await thread.history()] == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("what", GOOD)
async def test_a_tool_may_return(here: World, what: str) -> None:
    value, told = GOOD[what]
    _, turn, (result, _) = await played(here, returns(value))
    assert (turn.status, result) == ("completed", ("done", told))


async def test_a_tool_that_hangs_can_be_cancelled(world: World) -> None:
    gate = Gate()

    async def hang() -> str:
        gate.reached.set()
        await asyncio.Event().wait()
        return "never"

    world.agent(ask("hang"), "ok", tools=[hang])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.send("go on")).text == "ok"


async def test_a_tool_that_swallows_its_cancellation_does_not_hold_the_thread(world: World) -> None:
    gate, never = Gate(), asyncio.Event()

    async def stubborn() -> str:
        while not never.is_set():
            try:
                gate.reached.set()
                await never.wait()
            except asyncio.CancelledError:
                continue
        return "gave in"

    world.tune(cancel_grace_s=0.05)
    world.agent(ask("stubborn"), "ok", tools=[stubborn])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    assert (await thread.cancel())["failure_code"] == "cancelled"
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.send("go on")).text == "ok"
    never.set()


async def test_a_new_turn_closes_what_a_failed_one_left_open(world: World) -> None:
    gate = Gate()

    async def slow() -> str:
        await gate.pass_through()
        return "never"

    def quick() -> str:
        return "quick"

    model = world.agent([ask("quick"), ask("slow"), ask("slow")], "ok", tools=[quick, slow])
    thread = await world.thread()
    run = thread.stream()
    await run.until("tool_call_finished")
    await gate.wait()
    await thread.cancel()
    await thread.send("something else")
    assert [outcome for outcome, _ in model.heard()] == ["user", "assistant", "done", "cancelled", "cancelled", "user"]
    assert await outcomes(thread) == ["done", "cancelled", "cancelled"]


async def test_a_new_turn_after_a_cancelled_question_closes_it(world: World) -> None:
    def pay() -> str:
        return "paid"

    model = world.agent(ask("pay"), "ok", tools=[pay], approve=True)
    thread = await world.thread()
    await thread.send()
    await thread.cancel()
    await thread.send("never mind")
    assert [outcome for outcome, _ in model.heard()] == ["user", "assistant", "cancelled", "user"]


async def test_calls_closed_by_a_new_turn_are_not_run_by_a_later_retry(world: World) -> None:
    ran: list[str] = []
    gate = Gate()

    async def slow() -> str:
        ran.append("slow")
        await gate.pass_through()
        return "late"

    world.agent(ask("slow"), rejected(), "ok", tools=[slow])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await thread.cancel()
    await run.turn()
    await thread.send("again")
    assert (await thread.retry()).text == "ok"
    assert ran == ["slow"]
    assert await outcomes(thread) == ["cancelled"]


async def test_values_that_a_hook_returns_and_storage_must_refuse_fail_the_run(world: World) -> None:
    class Touch:
        def __init__(self) -> None:
            self.values: list[Any] = [float("nan"), "x" * 2_000_000, "fine"]

        def after_step(self, _: Any) -> dict[str, Any]:
            return {"value": self.values.pop(0)}

    world.agent("ok", hooks=[Touch()])
    thread = await world.thread()
    assert (await thread.send()).status == "failed"
    assert (await thread.retry()).status == "failed"
    assert (await thread.retry()).status == "completed"
    assert await thread.state() == {"value": "fine"}
    history = await thread.history()
    assert [each["version"] for each in history] == list(range(len(history), 0, -1)), "no version was taken for them"


@pytest.mark.parametrize("returned", [5, "text", [1], {1: 2}], ids=str)
async def test_a_hook_that_returns_no_mapping_fails_the_run(world: World, returned: Any) -> None:
    class Touch:
        def before_step(self, _: Any) -> Any:
            return returned

    world.agent("ok", hooks=[Touch()])
    turn = await (await world.thread()).send()
    assert turn.failure == "tool_failed"


async def test_a_hook_or_instructions_that_raise_fail_the_run_and_retry_continues_it(world: World) -> None:
    calls: list[str] = []

    def told(_: Any) -> str:
        calls.append("told")
        if len(calls) == 1:
            raise LookupError("not yet")
        return "be kind"

    model = world.agent("ok", instructions=told)
    thread = await world.thread()
    turn = await thread.send()
    assert turn.failure == "tool_failed"
    assert "not yet" in turn.end.data["message"]
    assert (await thread.retry()).text == "ok"
    assert model.requests[0].instructions == "be kind"


async def test_a_slow_plain_function_does_not_hold_up_others(world: World) -> None:
    gate = threading.Event()

    @tool(timeout=0.05)
    def block() -> str:
        gate.wait(10)
        return "late"

    model = world.agent(ask("block"), "ok", tools=[block])
    turn = await (await world.thread()).send()
    gate.set()
    assert (turn.status, model.heard()[-1][0]) == ("completed", "failed")
