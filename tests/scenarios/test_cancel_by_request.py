"""Cancelling by the request that began an attempt, for callers that left before they knew their run."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from clew_storage import ThreadKey
from tests.scenarios.heads import refund
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import ERRORS, Handle, World, head_of, refused, snapshot


async def busy(world: World) -> tuple[Handle, Gate]:
    """A thread whose run stands at a gate; what comes after it says ok."""
    gate = Gate()
    world.agent([gate, "first"], "ok")
    thread = await world.thread()
    thread.stream("first", request_id="r1")
    await gate.wait()
    return thread, gate


async def test_the_attempt_that_a_request_began_is_cancelled(world: World) -> None:
    thread, _ = await busy(world)
    head = await thread.cancel(started_by_request_id="r1")
    assert (head["status"], head["failure_code"]) == ("failed", "cancelled")
    assert head == await head_of(thread)


async def test_so_is_the_attempt_of_a_retry_and_not_the_one_before(world: World) -> None:
    gate = Gate()
    world.agent(ValueError("broken"), [gate, "never"], "ok")
    thread = await world.thread()
    await thread.send(request_id="r1")
    run = thread.stream_retry(request_id="r2")
    await gate.wait()
    with refused("run_not_found"):
        await thread.cancel(started_by_request_id="r1")
    assert (await thread.cancel(started_by_request_id="r2"))["failure_code"] == "cancelled"
    assert (await run.turn()).failure == "cancelled"


async def test_an_attempt_that_waits_for_people_is_given_up_too(world: World) -> None:
    world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    await thread.send(request_id="r1")
    assert (await thread.cancel(started_by_request_id="r1"))["failure_code"] == "cancelled"
    assert await thread.approvals() == []


async def test_an_attempt_that_is_over_and_still_the_newest_stays_as_it_is(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    turn = await thread.send(request_id="r1")
    head = await thread.cancel(started_by_request_id="r1")
    assert (head["version"], head["status"]) == (turn.version, "completed")


async def test_a_request_that_waits_leaves_the_queue_and_never_runs(world: World) -> None:
    thread, gate = await busy(world)
    waiting = thread.stream("second", request_id="r2")
    await waiting.until("run_queued")
    head = await thread.cancel(started_by_request_id="r2")
    assert head["status"] == "in_progress", "the run that it waited for goes on"
    with refused("cancelled"):
        await waiting.turn()
    await world.waiters(0)
    gate.open()
    await thread.watch().turn()
    assert [each["content"][0]["text"] for each in await thread.messages()] == ["first", "first"]


async def test_a_withdrawn_request_that_comes_again_is_not_run(world: World) -> None:
    thread, gate = await busy(world)
    waiting = thread.stream("second", request_id="r2")
    await waiting.until("run_queued")
    await thread.cancel(started_by_request_id="r2")
    with refused("cancelled"):
        await waiting.turn()
    gate.open()
    await thread.watch().turn()
    before = await snapshot(thread)
    with refused("cancelled") as withdrawn:
        await thread.send("second", request_id="r2")
    assert "use a new request id" in str(withdrawn.value)
    assert await snapshot(thread) == before
    assert (await thread.send("second", request_id="r3")).text == "ok"


async def test_the_same_request_waiting_twice_is_withdrawn_as_one(world: World) -> None:
    thread, gate = await busy(world)
    twice = [thread.stream("second", request_id="r2") for _ in range(2)]
    # Either may come first; the other is not told that it waits.
    queued = [asyncio.ensure_future(each.until("run_queued")) for each in twice]
    await asyncio.wait(queued, return_when=asyncio.FIRST_COMPLETED)
    for each in queued:
        each.cancel()
    await asyncio.wait(queued)
    await thread.cancel(started_by_request_id="r2")
    for waiting in twice:
        with refused("cancelled"):
            await waiting.turn()
    gate.open()
    await thread.watch().turn()
    assert len(await thread.history()) == 2


@pytest.mark.parametrize("request_id", ["unknown", "r-update"])
async def test_a_request_that_has_begun_no_run_is_not_found(world: World, request_id: str) -> None:
    thread, _ = await busy(world)
    await thread.update(name="named", request_id="r-update")
    before = await snapshot(thread)
    with refused("run_not_found", started_by_request_id=request_id) as missing:
        await thread.cancel(started_by_request_id=request_id)
    assert "end its call, or ask again" in str(missing.value)
    assert await snapshot(thread) == before
    assert (await thread.info())["run"]["state"] == "running"


async def test_a_run_and_a_request_are_not_named_together(world: World) -> None:
    thread, _ = await busy(world)
    with refused("argument_invalid", field="started_by_request_id"):
        await thread.cancel((await head_of(thread))["run_id"], started_by_request_id="r1")


async def test_a_thread_that_is_not_there_is_not_found(world: World) -> None:
    thread = await world.thread()
    with refused("thread_not_found"):
        await thread.cancel(started_by_request_id="r1")


async def test_a_cancel_at_any_moment_of_an_arrival_leaves_no_run_that_it_has_answered_for(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    await thread.send("first")
    for moment in range(40):
        run = thread.stream("hello", request_id=f"r{moment}")
        for _ in range(moment):
            await asyncio.sleep(0)
        try:
            await thread.cancel(started_by_request_id=f"r{moment}")
        except ERRORS:
            await run.turn()
            continue
        after = await thread.info()
        assert after["run"] is None
        with suppress(*ERRORS):
            await run.turn()
        assert (await thread.info())["version"] == after["version"], "what the cancel answered for is the end of it"


async def test_a_withdrawn_request_of_a_thread_without_checkpoints_is_said_to_be_withdrawn(here: World) -> None:
    here.agent("ok")
    thread = await here.thread()
    await thread.update(name="made")
    held = await here.storage.backend.leases.acquire(ThreadKey("", "t"), purpose="write", wait_s=0)
    run = thread.stream("hello", request_id="r1")
    await here.waiters(1)
    with refused("thread_not_found") as told:
        await thread.cancel(started_by_request_id="r1")
    assert "was withdrawn" in str(told.value)
    with refused("cancelled"):
        await run.turn()
    await here.storage.backend.leases.release(held)
