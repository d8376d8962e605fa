"""Finished tool calls are not run again; each outcome is a checkpoint of its own, read in the model's order."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from clew_engine import ToolContext, tool
from clew_engine.ids import idempotency_key
from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.world import Handle, World, head_of


def results(messages: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Tool, outcome and text of each result in a transcript."""
    parts = [part for message in messages for part in message["content"] if part["type"] == "tool_result"]
    return [(part["name"], part["outcome"], part["content"][0]["text"]) for part in parts]


async def test_parallel_results_commit_in_the_order_they_finish_and_are_read_in_the_models_order(world: World) -> None:
    first, second, third = Gate(), Gate(), Gate()

    async def one() -> str:
        await first.pass_through()
        return "1"

    async def two() -> str:
        await second.pass_through()
        return "2"

    async def three() -> str:
        await third.pass_through()
        return "3"

    model = world.agent([ask("one"), ask("two"), ask("three")], "ok", tools=[one, two, three])
    thread = await world.thread()
    run = thread.stream()
    for count, gate in enumerate((third, first, second), start=1):
        await gate.wait()
        gate.open()
        await run.until("tool_call_finished", count)
    turn = await run.turn()
    finished = turn.of("tool_call_finished")
    assert [event.data["tool"] for event in finished] == ["three", "one", "two"]
    assert len({event.version for event in finished}) == 3, "each is a checkpoint of its own"
    assert results(await thread.messages()) == [("one", "done", "1"), ("two", "done", "2"), ("three", "done", "3")]
    assert [text for _, text in model.heard()][-3:] == ["1", "2", "3"]


async def test_a_slow_call_does_not_hold_back_the_record_of_a_quick_one(world: World) -> None:
    gate = Gate()

    async def slow() -> str:
        await gate.pass_through()
        return "slow"

    def quick() -> str:
        return "quick"

    world.agent([ask("slow"), ask("quick")], "ok", tools=[slow, quick])
    thread = await world.thread()
    run = thread.stream()
    await run.until("tool_call_finished")
    assert results(await thread.messages()) == [("quick", "done", "quick")]
    gate.open()
    await run.turn()


async def test_retry_runs_only_what_is_not_recorded(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    def quick() -> str:
        ran.append("quick")
        return "quick"

    async def slow() -> str:
        ran.append("slow")
        await gate.pass_through()
        return "slow"

    model = world.agent([ask("quick"), ask("slow")], "ok", tools=[quick, slow])
    thread = await world.thread()
    run = thread.stream()
    await run.until("tool_call_finished")
    await gate.wait()
    await world.interrupt()
    await run.gone()
    gate.open()
    turn = await thread.retry()
    assert (turn.status, sorted(ran)) == ("completed", ["quick", "slow", "slow"])
    assert len(model.requests) == 2, "the model is not asked again for what it said"
    assert [event.data["tool"] for event in turn.of("tool_call_started")] == ["slow"]


async def test_the_idempotency_key_stays_the_same_over_a_retry(world: World) -> None:
    gate = Gate()
    keys: list[str] = []

    async def pay(context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        await gate.pass_through()
        return "paid"

    world.agent(ask("pay"), "ok", tools=[pay])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await world.interrupt()
    await run.gone()
    gate.open()
    await thread.retry()
    assert len(keys) == 2
    assert keys[0] == keys[1]


async def test_the_idempotency_key_is_a_hash_of_tenant_thread_uid_run_and_call(world: World) -> None:
    told: list[ToolContext] = []

    def pay(context: ToolContext) -> str:
        told.append(context)
        return "paid"

    world.agent([ask("pay"), ask("pay")], "ok", tools=[pay])
    thread = await world.thread()
    turn = await thread.send()
    uid = (await thread.info())["thread_uid"]
    assert {context.idempotency_key for context in told} == {
        idempotency_key("", uid, turn.run_id, context.call_id) for context in told
    }
    assert len({context.idempotency_key for context in told}) == 2


async def test_calls_after_a_rewind_get_new_keys(world: World) -> None:
    keys: list[str] = []

    def pay(context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        return "paid"

    world.agent(ask("pay"), "ok", tools=[pay])
    thread = await world.thread()
    turn = await thread.send()
    asked = next(event for event in turn.of("checkpoint_written") if event.data["source"] == "step")
    await thread.rewind(asked.data["id"])
    await thread.retry()
    assert len(set(keys)) == 2


async def test_a_raise_is_an_ordinary_failed_outcome(world: World) -> None:
    def broken() -> str:
        raise LookupError("no such order")

    model = world.agent(ask("broken"), "sorry", tools=[broken])
    turn = await (await world.thread()).send()
    assert (turn.status, turn.text) == ("completed", "sorry")
    assert ("failed", "LookupError: no such order") in model.heard()


async def test_a_tool_that_takes_too_long_gets_a_failed_outcome(world: World) -> None:
    gate = Gate()

    @tool(timeout=0.02)
    async def slow() -> str:
        await gate.pass_through()
        return "never"

    model = world.agent(ask("slow"), "sorry", tools=[slow])
    turn = await (await world.thread()).send()
    assert turn.status == "completed"
    assert ("failed", "slow timed out after 0.02 s") in model.heard()


async def test_a_call_is_announced_by_the_write_that_is_durable_before_it_starts(world: World) -> None:
    versions: list[int] = []
    threads: list[Handle] = []

    async def look() -> str:
        versions.append((await threads[0].info())["version"])
        return "seen"

    world.agent(ask("look"), "ok", tools=[look])
    threads.append(await world.thread())
    turn = await threads[0].send()
    (started,) = turn.of("tool_call_started")
    assert versions == [started.version]


async def test_tools_run_side_by_side(world: World) -> None:
    together = asyncio.Barrier(3)

    async def meet() -> str:
        await together.wait()
        return "met"

    world.agent([ask("meet"), ask("meet"), ask("meet")], "ok", tools=[meet])
    assert (await (await world.thread()).send()).status == "completed"


async def test_plain_functions_run_side_by_side_too(world: World) -> None:
    together = threading.Barrier(3, timeout=10)

    def meet() -> str:
        together.wait()
        return "met"

    model = world.agent([ask("meet"), ask("meet"), ask("meet")], "ok", tools=[meet])
    await (await world.thread()).send()
    assert [outcome for outcome, _ in model.heard()][-3:] == ["done"] * 3


async def test_a_crash_after_the_last_result_goes_on_with_the_model(world: World) -> None:
    gate = Gate()
    ran: list[str] = []

    def note() -> str:
        ran.append("note")
        return "noted"

    world.agent(ask("note"), gate, "ok", tools=[note])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await world.interrupt()
    await run.gone()
    assert (await head_of(thread))["next"] == ["model"]
    assert (await thread.retry()).text == "ok"
    assert ran == ["note"]


async def test_the_outcome_of_a_call_is_kept_when_the_next_model_step_fails(world: World) -> None:
    ran: list[str] = []

    def note() -> str:
        ran.append("note")
        return "noted"

    world.agent(ask("note"), rejected(), "ok", tools=[note])
    thread = await world.thread()
    assert (await thread.send()).failure == "model_rejected"
    assert (await thread.retry()).text == "ok"
    assert ran == ["note"]
