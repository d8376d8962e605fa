"""One run at a time on a thread: waiting, refusing and interrupting, and who goes first."""

from __future__ import annotations

import asyncio
import time

import pytest

from clew_engine import OnBusy, RunOptions, commands
from clew_engine.agents import Agent
from clew_engine.leasing import BusyWait
from clew_engine.messages import TextPart
from clew_engine.options import Mutation, NewThread
from clew_storage import ThreadKey
from tests.scenarios.heads import refund, standing
from tests.scenarios.scripts import Gate, ScriptedModel, Stubborn, ask
from tests.scenarios.sights import Reader
from tests.scenarios.world import Handle, World, head_of, refused, snapshot


async def queue(thread: Handle, *texts: str) -> list[Reader]:
    """Sends that wait for the thread, in this order."""
    waiting: list[Reader] = []
    for text in texts:
        waiting.append(thread.stream(text))
        await waiting[-1].until("run_queued")
    return waiting


def said(model: ScriptedModel) -> list[str]:
    """What users said last, a request at a time."""
    return [request.messages[-1].text for request in model.requests]


async def test_waiting_sends_are_served_first_come_first_served(world: World) -> None:
    gate = Gate()
    model = world.agent([gate, "first"], "later")
    thread = await world.thread()
    running = thread.stream("one")
    await gate.wait()
    waiting = await queue(thread, "two", "three", "four")
    assert [(await each.until("run_queued")).data["ahead"] for each in waiting] == [0, 1, 2]
    gate.open()
    await running.turn()
    for each in waiting:
        assert (await each.turn()).text == "later"
    assert said(model) == ["one", "two", "three", "four"]


async def test_a_queued_send_tells_that_it_waits_before_it_starts(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    thread = await world.thread()
    running = thread.stream()
    await gate.wait()
    (waiting,) = await queue(thread, "two")
    queued = await waiting.until("run_queued")
    assert (queued.version, queued.last, queued.run_id) == ((await thread.info())["version"], False, "")
    gate.open()
    turn = await waiting.turn()
    assert [event.type for event in turn.events[:2]] == ["run_queued", "run_started"]
    await running.turn()


async def test_one_that_waits_too_long_gets_thread_busy_and_has_done_nothing(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    running = (await world.thread()).stream()
    await gate.wait()
    impatient = await world.thread(busy_timeout=0.05)
    before = await snapshot(impatient)
    began = time.monotonic()
    with refused("thread_busy"):
        await impatient.send("two")
    assert 0.04 <= time.monotonic() - began < 5
    assert await snapshot(impatient) == before
    gate.open()
    await running.turn()
    assert [each["content"][0]["text"] for each in await impatient.messages()] == ["hello", "ok"]


async def test_reject_refuses_at_once(world: World) -> None:
    at = await standing(world, "running", on_busy="reject", busy_timeout=60)
    began = time.monotonic()
    with refused("thread_busy"):
        await at.thread.send()
    assert time.monotonic() - began < 5
    await at.finish()


async def test_interrupt_aborts_the_model_at_once_and_saves_the_run_as_cancelled(world: World) -> None:
    gate = Gate()
    world.agent(["Once upon ", gate, "a time"], "ok")
    thread = await world.thread()
    running = thread.stream("tell")
    await gate.wait()
    began = time.monotonic()
    turn = await (await world.thread(on_busy="interrupt")).send("stop")
    assert time.monotonic() - began < world.tuning.cancel_grace_s + 5
    assert (await running.turn()).failure == "cancelled"
    assert turn.text == "ok"
    told = [(each["role"], each.get("finish_reason")) for each in await thread.messages()]
    assert told == [("user", None), ("assistant", "cancelled"), ("user", None), ("assistant", "stop")]


async def test_interrupt_gives_tools_time_to_end_and_keeps_what_they_return(world: World) -> None:
    gate = Gate()

    async def careful() -> str:
        try:
            await gate.pass_through()
        except asyncio.CancelledError:
            return "put away"
        return "unreachable"

    model = world.agent(ask("careful"), "ok", tools=[careful])
    thread = await world.thread()
    running = thread.stream()
    await gate.wait()
    await (await world.thread(on_busy="interrupt")).send("stop")
    assert (await running.turn()).failure == "cancelled"
    assert ("done", "put away") in model.heard()


async def test_interrupt_leaves_a_tool_that_does_not_end_after_the_grace(world: World) -> None:
    stubborn = Stubborn()
    world.tune(cancel_grace_s=0.05)
    model = world.agent(ask("hold"), "ok", tools=[stubborn.hold])
    running = (await world.thread()).stream()
    await stubborn.gate.wait()
    turn = await (await world.thread(on_busy="interrupt")).send("stop")
    assert (turn.text, (await running.turn()).failure) == ("ok", "cancelled")
    assert [outcome for outcome, _ in model.heard()][2] == "cancelled"
    stubborn.late.open()


async def test_interrupters_go_before_waiters_and_first_come_first_among_themselves(world: World) -> None:
    gate = Gate()
    model = world.agent([gate, "first"], "later")
    thread = await world.thread()
    interrupting = await world.thread(on_busy="interrupt")
    await world.storage.open()
    held = await world.storage.backend.leases.acquire(ThreadKey("", "t"), purpose="write", wait_s=0)
    waiting = await queue(thread, "waits")
    first = await queue(interrupting, "first")
    second = await queue(interrupting, "second")
    gate.open()
    await world.storage.backend.leases.release(held)
    turns = [await each.turn() for each in (*first, *second, *waiting)]
    assert turns[0].failure == "cancelled", "the second interrupter interrupts the first"
    assert [turn.status for turn in turns[1:]] == ["completed", "completed"]
    assert [message["content"][0]["text"] for message in await thread.messages() if message["role"] == "user"] == [
        "first",
        "second",
        "waits",
    ]
    assert said(model)[-2:] == ["second", "waits"]


async def test_expected_version_is_checked_at_arrival(world: World) -> None:
    at = await standing(world, "running")
    with refused("version_conflict"):
        await at.thread.send("two", expected_version=7)
    assert not at.run or not at.run.over
    with refused("version_conflict"):
        await at.thread.rewind(at.checkpoint, expected_version=7)
    await at.finish()


async def test_expected_version_is_checked_at_the_grant(world: World) -> None:
    at = await standing(world, "running")
    version = (await at.thread.info())["version"]
    waiting = at.thread.stream("two", expected_version=version)
    await waiting.until("run_queued")
    await at.finish()
    before = await snapshot(at.thread)
    with refused("version_conflict"):
        await waiting.turn()
    assert await snapshot(at.thread) == before


async def test_whoever_gets_the_turn_is_judged_by_the_head_it_finds(world: World) -> None:
    gate = Gate()
    world.agent([gate, ask("refund", amount=1)], "ok", tools=[refund], approve=True)
    thread = await world.thread()
    running = thread.stream()
    await gate.wait()
    (send,) = await queue(thread, "two")
    retry = thread.stream_retry()
    await retry.until("run_queued")
    gate.open()
    assert (await running.turn()).status == "suspended"
    with refused("thread_suspended"):
        await send.turn()
    with refused("resume_invalid"):
        await retry.turn()


async def test_a_waiter_that_is_cancelled_leaves_no_trace(world: World) -> None:
    at = await standing(world, "running")
    first, second, third = await queue(at.thread, "one", "two", "three")
    before = await snapshot(at.thread)
    await second.leave()
    await world.waiters(2)
    assert await snapshot(at.thread) == before
    await at.finish()
    await first.turn()
    await third.turn()
    asked = [each["content"][0]["text"] for each in await at.thread.messages() if each["role"] == "user"]
    assert asked == ["hello", "one", "three"]


async def test_rewind_waits_for_the_run_and_then_writes_its_head(world: World) -> None:
    at = await standing(world, "running")
    waiting = asyncio.create_task(at.thread.rewind(at.checkpoint))
    await world.waiters(1)
    await at.finish()
    assert (await waiting)["parent_id"] == at.checkpoint


async def test_the_defaults_of_a_storage_hold_for_calls_that_say_nothing(world: World) -> None:
    world.tune(on_busy=OnBusy.REJECT)
    at = await standing(world, "running")
    with refused("thread_busy"):
        await at.thread.send()
    await at.finish()


async def test_the_time_to_wait_is_the_deadline_less_a_margin_if_that_is_sooner(here: World) -> None:
    at = await standing(here, "running")
    for deadline_s, waited_s in ((30.0, 29.8), (0.3, 0.1), (0.1, 0.0), (1000.0, 60.0)):
        wait = BusyWait(here.storage, ThreadKey("", "t"), RunOptions(deadline_s=deadline_s, busy_timeout_s=60.0), "run")
        assert wait._timeout == pytest.approx(waited_s)
    program = Agent("app", model=ScriptedModel("ok")).program
    with refused("thread_busy"):
        await commands.send(
            here.storage,
            ThreadKey("", "t"),
            program,
            (TextPart("two"),),
            {},
            new=NewThread(),
            mutation=Mutation(),
            options=RunOptions(deadline_s=0.3),
        ).reply()
    await at.finish()


async def test_a_deadline_in_the_far_future_does_not_lengthen_the_wait(here: World) -> None:
    options = RunOptions(deadline_s=1000.0, busy_timeout_s=0.01)
    wait = BusyWait(here.storage, ThreadKey("", "t"), options, "run")
    await here.storage.open()
    held = await here.storage.backend.leases.acquire(ThreadKey("", "t"), purpose="write", wait_s=0)
    with refused("thread_busy"):
        await wait.acquire()
    await here.storage.backend.leases.release(held)
    assert here.storage.interrupters == {}


async def test_two_threads_do_not_wait_for_each_other(world: World) -> None:
    at = await standing(world, "running")
    other = await world.thread("other", on_busy="reject")
    assert (await other.send()).text == "ok"
    assert (await head_of(at.thread))["status"] == "in_progress"
    await at.finish()
