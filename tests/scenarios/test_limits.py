"""Limits count per attempt, fail the run, and `retry` continues it with new ones."""

from __future__ import annotations

import pytest

from clew_engine import Limits, tool
from clew_engine.errors import ArgumentInvalidError
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import World, head_of


def note() -> str:
    """A tool that takes no time."""
    return "noted"


async def test_steps_over_the_limit_fail_the_run_and_a_retry_counts_anew(world: World) -> None:
    model = world.agent(ask("note"), ask("note"), ask("note"), "ok", tools=[note])
    thread = await world.thread(limits={"steps": 2})
    turn = await thread.send()
    assert (turn.failure, turn.end.data["retryable"]) == ("limit_exceeded", True)
    assert len(model.requests) == 2
    assert (await thread.retry()).text == "ok"


async def test_a_run_within_its_steps_is_left_alone(world: World) -> None:
    world.agent(ask("note"), "ok", tools=[note])
    assert (await (await world.thread(limits={"steps": 2})).send()).text == "ok"


async def test_tokens_over_the_limit_fail_the_run_before_the_next_step(world: World) -> None:
    model = world.agent(ask("note"), "ok", tools=[note])
    thread = await world.thread(limits={"tokens": 5})
    turn = await thread.send()
    assert turn.failure == "limit_exceeded"
    assert [event.data["outcome"] for event in turn.of("tool_call_finished")] == ["done"], (
        "what was asked for is finished"
    )
    assert len(model.requests) == 1
    turn = await thread.retry()
    assert (turn.text, turn.end.data["tokens"]) == ("ok", 10), "usage counts the whole run"


async def test_time_over_the_limit_stops_the_model_and_keeps_its_text(world: World) -> None:
    world.agent(["half", Gate()], "whole")
    thread = await world.thread(limits={"seconds": 0.5})
    turn = await thread.send()
    assert turn.failure == "limit_exceeded"
    assert (await thread.messages())[-1]["finish_reason"] == "cancelled"
    assert (await (await world.thread()).retry()).text == "whole"


async def test_time_over_the_limit_stops_tools_and_a_retry_runs_them_again(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    async def slow() -> str:
        ran.append("slow")
        await gate.pass_through()
        return "done"

    world.agent(ask("slow"), "ok", tools=[slow])
    thread = await world.thread(limits={"seconds": 0.5})
    assert (await thread.send()).failure == "limit_exceeded"
    gate.open()
    assert (await (await world.thread()).retry()).text == "ok"
    assert ran == ["slow", "slow"]


async def test_tool_time_over_the_limit_fails_the_run_and_a_retry_runs_the_call_again(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    async def slow() -> str:
        ran.append("slow")
        await gate.pass_through()
        return "done"

    world.agent([ask("slow"), ask("note")], "ok", tools=[slow, note])
    thread = await world.thread(limits={"tool_seconds": 0.05})
    turn = await thread.send()
    assert turn.failure == "limit_exceeded"
    assert [event.data["tool"] for event in turn.of("tool_call_finished")] == ["note"]
    gate.open()
    assert (await thread.retry()).text == "ok"
    assert ran == ["slow", "slow"]


async def test_a_tools_own_time_is_its_own_failed_outcome(world: World) -> None:
    @tool(timeout=0.02)
    async def slow() -> str:
        await Gate().pass_through()
        return "never"

    model = world.agent(ask("slow"), "ok", tools=[slow])
    assert (await (await world.thread(limits={"tool_seconds": 60})).send()).text == "ok"
    assert model.heard()[-1][0] == "failed"


async def test_the_smaller_of_the_apps_limit_and_the_callers_holds(world: World) -> None:
    world.agent(ask("note"), tools=[note], limits=Limits(steps=2))
    thread = await world.thread(limits={"steps": 50})
    await thread.send()
    assert (await head_of(thread))["step"] == 2


async def test_an_agent_that_never_ends_is_stopped_by_the_default_limit(here: World) -> None:
    model = here.agent(ask("note"), tools=[note])
    assert (await (await here.thread()).send()).failure == "limit_exceeded"
    assert len(model.requests) == 50


@pytest.mark.parametrize("name", ["steps", "tokens", "seconds", "tool_seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_is_larger_than_nothing(name: str, value: float) -> None:
    with pytest.raises(ArgumentInvalidError, match=f"limits.{name}"):
        Limits(**{name: value})  # type: ignore[arg-type]
