"""Tools declared `once`: the intent is durable before the start, and what nobody recorded is for a person to say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from clew_engine import Limits, tool
from tests.scenarios.payments import Payment, stopped
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import Handle, World, at_version, head_of


async def test_the_intent_is_committed_before_the_call_starts(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    assert (await head_of(thread))["source"] == "intent"
    started = await run.until("tool_call_started")
    assert started.version == (await head_of(thread))["version"]
    payment.gate.open()
    turn = await run.turn()
    assert turn.status == "completed"
    assert len(turn.of("tool_call_started")) == 1


async def test_a_retry_that_meets_a_started_call_without_a_record_suspends_and_asks(world: World) -> None:
    payment = Payment(world)
    thread, turn = await stopped(world, payment)
    assert turn.status == "suspended"
    (approval,) = await thread.approvals()
    assert (approval["kind"], approval["tool"], approval["arguments"]) == ("tool_outcome", "pay", {"amount": 5})
    assert len(payment.keys) == 1, "it is never run again by itself"


@pytest.mark.parametrize(
    ("answer", "heard", "runs"),
    [
        ({"run_again": True}, ("done", "paid 5"), 2),
        ({"result": {"paid": 5}}, ("done", '{"paid":5}'), 1),
        ({"fail": "the bank says no"}, ("failed", "the bank says no"), 1),
    ],
    ids=["run_again", "result", "fail"],
)
async def test_a_person_decides_an_unknown_outcome(
    world: World, answer: dict[str, Any], heard: tuple[str, str], runs: int
) -> None:
    payment = Payment(world)
    thread, turn = await stopped(world, payment)
    turn = await thread.decide({turn.approvals[0]: answer})
    assert turn.status == "completed"
    assert payment.model.heard()[-1] == heard
    assert len(payment.keys) == runs
    assert len(set(payment.keys)) == 1, "the same key, so that the bank can tell"


async def test_a_second_crash_after_run_again_asks_again(world: World) -> None:
    gate = Gate()
    starts: list[str] = []

    @tool(once=True)
    async def pay() -> str:
        starts.append("pay")
        await gate.pass_through()
        return "paid"

    world.agent(ask("pay"), "ok", tools=[pay])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await world.interrupt()
    await run.gone()
    (approval,) = (await thread.retry()).approvals
    gate.reached.clear()
    again = thread.stream_decide({approval: {"run_again": True}})
    await gate.wait()
    await world.interrupt()
    await again.gone()
    assert (await thread.retry()).status == "suspended"
    assert len(starts) == 2


async def test_a_timeout_that_meets_a_started_call_suspends_and_asks(world: World) -> None:
    payment = Payment(world, timeout=0.02)
    turn = await (await world.thread()).send()
    assert (turn.status, len(payment.keys)) == ("suspended", 1)


async def test_the_limit_of_tool_time_that_meets_a_started_call_suspends_and_asks(world: World) -> None:
    payment = Payment(world, limits=Limits(tool_seconds=0.02))
    thread = await world.thread()
    assert (await thread.send()).status == "suspended"
    assert [each["kind"] for each in await thread.approvals()] == ["tool_outcome"]
    assert len(payment.keys) == 1


async def test_a_cancel_that_meets_a_started_call_suspends_and_asks(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    head = await thread.cancel()
    assert head["status"] == "suspended"
    assert (await run.turn()).status == "suspended"
    (approval,) = await thread.approvals()
    assert approval["kind"] == "tool_outcome"
    assert (await thread.decide({approval["id"]: {"result": "paid"}})).status == "completed"


async def test_a_second_cancel_gives_the_unknown_outcome_up(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    await thread.cancel()
    await run.turn()
    head = await thread.cancel()
    assert (head["status"], head["failure_code"]) == ("failed", "cancelled")
    assert await thread.approvals() == []
    assert (await thread.retry()).status == "suspended", "it is still not known"


async def test_a_once_call_that_ends_in_time_is_recorded_and_the_run_cancelled(world: World) -> None:
    gate = Gate()

    @tool(once=True)
    async def pay() -> str:
        try:
            await gate.pass_through()
        except asyncio.CancelledError:
            return "paid all the same"
        return "paid"

    world.agent(ask("pay"), "ok", tools=[pay])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    assert (await thread.cancel())["failure_code"] == "cancelled"
    assert (await run.turn()).failure == "cancelled"
    assert (await thread.retry()).status == "completed"


async def test_calls_beside_an_unknown_one_are_finished_first(world: World) -> None:
    def note() -> str:
        return "noted"

    payment = Payment(world, note, timeout=0.05)
    thread = await world.thread()
    turn = await thread.send()
    assert turn.status == "suspended"
    assert [event.data["tool"] for event in turn.of("tool_call_finished")] == ["note"]
    assert len(payment.keys) == 1


async def test_a_new_turn_after_a_given_up_call_tells_the_model_that_its_outcome_is_unknown(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    await world.interrupt()
    await run.gone()
    await thread.cancel()
    await thread.send("what now?")
    assert [outcome for outcome, _ in payment.model.heard()] == ["user", "assistant", "unknown", "user"]


async def test_a_once_call_started_on_an_abandoned_branch_is_unknown_after_a_rewind(world: World) -> None:
    payment = Payment(world)
    payment.gate.open()
    thread = await world.thread()
    turn = await thread.send()
    asked = next(event for event in turn.of("checkpoint_written") if event.data["source"] == "step")
    await thread.rewind(asked.data["id"])
    turn = await thread.retry()
    assert turn.status == "suspended"
    assert [each["kind"] for each in await thread.approvals()] == ["tool_outcome"]
    assert len(payment.keys) == 1


async def settled_after_a_rewind(payment: Payment, thread: Handle) -> int:
    """A thread whose call was started on a line that was abandoned then, and settled by a person; gives the version that asked for the call."""
    payment.gate.open()
    turn = await thread.send()
    asked = next(event for event in turn.of("checkpoint_written") if event.data["source"] == "step")
    await thread.rewind(asked.data["id"])
    (unknown,) = (await thread.retry()).approvals
    assert (await thread.decide({unknown: {"result": "paid"}})).status == "completed"
    return asked.version


@pytest.mark.parametrize("copies", [1, 2])
async def test_a_copy_that_is_rewound_knows_of_a_call_on_a_line_that_its_source_had_abandoned(
    world: World, copies: int
) -> None:
    payment = Payment(world)
    thread = await world.thread()
    version = await settled_after_a_rewind(payment, thread)
    for number in range(copies):
        thread = await thread.copy(f"copy-{number}")
    await thread.rewind(await at_version(thread, version))
    assert (await thread.retry()).status == "suspended"
    assert [each["kind"] for each in await thread.approvals()] == ["tool_outcome"]
    assert len(payment.keys) == 1, "the source may have paid: a person says so, and nobody else"


async def test_a_copy_of_a_rewound_copy_knows_of_it_too(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    version = await settled_after_a_rewind(payment, thread)
    copied = await thread.copy("copy")
    await copied.rewind(await at_version(copied, 1))
    await thread.delete()
    again = await copied.copy("again", f"{(await copied.info())['thread_uid']}.{version}")
    await again.rewind(await at_version(again, version))
    assert (await again.retry()).status == "suspended"
    assert len(payment.keys) == 1


async def test_a_copy_goes_its_own_way_after_it_and_its_own_calls_are_its_own(world: World) -> None:
    payment = Payment(world)
    thread = await world.thread()
    await settled_after_a_rewind(payment, thread)
    copied = await thread.copy("copy")
    end = (await copied.history())[0]["id"]
    await copied.rewind(end)
    assert (await copied.info())["status"] == "completed"
    assert await copied.approvals() == []
