"""Races: whatever the order, versions are gapless, each call has one outcome, one of many wins, and no thread is wedged.

A few of each here; 200 with CLEW_FAULTS=full.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Sequence
from typing import Any

import pytest

from clew_engine import ToolContext
from tests.scenarios.checks import check_line, check_not_wedged, outcomes
from tests.scenarios.scripts import ask, breathe, rejected
from tests.scenarios.world import ERRORS, Handle, World, refused

ROUNDS = 200 if os.environ.get("CLEW_FAULTS") == "full" else 5
pytestmark = pytest.mark.timeout(120 if ROUNDS < 200 else 1800)


def serve(world: World, dice: random.Random) -> list[str]:
    """An agent that looks something up, asks for a payment and says so, giving way now and then; what was paid."""
    paid: list[str] = []

    async def look() -> str:
        for _ in range(dice.randrange(4)):
            await breathe()
        return "seen"

    def pay(context: ToolContext) -> str:
        paid.append(context.idempotency_key)
        return "paid"

    world.agent(
        *[["Let me ", breathe, "see", ask("look"), ask("look")], [ask("pay")], ["It ", breathe, "is ", breathe, "done"]]
        * 2,
        tools=[look, pay],
        approve=["pay"],
    )
    return paid


async def after(steps: int, call: Awaitable[Any]) -> Any:
    """A call that comes a little later, and what it gives or raises."""
    for _ in range(steps):
        await asyncio.sleep(0)
    try:
        return await call
    except ERRORS as error:
        return error


def codes(results: Sequence[Any]) -> list[str]:
    """How calls ended: a status, or the code of a refusal."""
    return [getattr(each, "status", None) or getattr(each, "code", None) or str(each) for each in results]


async def at_rest(thread: Handle) -> bool:
    """Whether the thread is there and no run of it is alive or lost."""
    return (await thread.info())["run"] is None


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_two_sends_at_once_make_two_turns_one_after_the_other(world: World, seed: int) -> None:
    dice = random.Random(seed)
    world.agent(["o", breathe, "k"])
    thread = await world.thread()
    sends = [thread.send(text) for text in ("one", "two")]
    found = await asyncio.gather(*(after(dice.randrange(30), each) for each in sends))
    assert codes(found) == ["completed", "completed"]
    texts = [message["content"][0]["text"] for message in await thread.messages()]
    assert texts in (["one", "ok", "two", "ok"], ["two", "ok", "one", "ok"])
    await check_line(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_of_two_sends_at_once_that_reject_a_busy_thread_one_may_be_refused_and_wrote_nothing(
    world: World, seed: int
) -> None:
    dice = random.Random(seed)
    world.agent(["o", breathe, "k"])
    thread = await world.thread(on_busy="reject")
    found = await asyncio.gather(*(after(dice.randrange(30), thread.send(text)) for text in ("one", "two")))
    done = codes(found).count("completed")
    assert sorted(codes(found)) in (["completed", "completed"], ["completed", "thread_busy"])
    assert len(await thread.messages()) == 2 * done
    await check_line(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_of_eight_deciders_one_wins_and_the_call_runs_once(world: World, seed: int) -> None:
    dice = random.Random(seed)
    paid = serve(world, dice)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    answers = [True, {"reject": "no"}] * 4
    decisions = [thread.decide({approval: answer}) for answer in answers]
    found = await asyncio.gather(*(after(dice.randrange(20), each) for each in decisions))
    assert sorted(codes(found)) == ["approval_already_decided"] * 7 + ["completed"]
    won = next(index for index, code in enumerate(codes(found)) if code == "completed")
    assert len(paid) == (1 if answers[won] is True else 0)
    assert await outcomes(thread) == ["done", "done", "done" if answers[won] is True else "rejected"]
    await check_line(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_a_delete_during_a_run_is_final(world: World, seed: int) -> None:
    dice = random.Random(seed)
    serve(world, dice)
    thread = await world.thread()
    await thread.update(name="made")
    old = (await thread.info())["thread_uid"]
    run, watch = thread.stream(), thread.watch(follow=True)
    waiting = after(dice.randrange(20), thread.send("two"))
    found = await asyncio.gather(after(dice.randrange(60), thread.delete()), waiting, return_exceptions=True)
    assert found[0] is True
    await run.gone()
    with refused("thread_not_found"):
        await watch.turn()
    if await thread.history():
        info = await thread.info()
        assert info["thread_uid"] != old, "what is there now was made after the delete"
        assert (await thread.messages())[0]["content"][0]["text"] in ("hello", "two")
        await check_line(thread)
    assert await thread.delete() in (True, False)
    assert await thread.messages() == []


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_a_rewind_during_a_run_waits_or_interrupts_and_loses_nothing(world: World, seed: int) -> None:
    dice = random.Random(seed)
    serve(world, dice)
    thread = await world.thread()
    first = await thread.send()
    start = (await thread.history())[-1]["id"]
    decider = thread.decide({first.approvals[0]: True})
    rewinder = await world.thread(on_busy=dice.choice(["wait", "interrupt", "reject"]))
    found = await asyncio.gather(after(dice.randrange(30), decider), after(dice.randrange(30), rewinder.rewind(start)))
    assert not isinstance(found[1], Exception) or codes(found)[1] == "thread_busy"
    assert await at_rest(thread)
    await check_line(thread)
    await check_not_wedged(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_retry_racing_retry_continues_once(world: World, seed: int) -> None:
    dice = random.Random(seed)
    model = world.agent(rejected(), ["o", breathe, "k"])
    thread = await world.thread()
    await thread.send()
    found = await asyncio.gather(*(after(dice.randrange(20), thread.retry()) for _ in range(3)))
    assert sorted(codes(found)) == ["completed", "resume_invalid", "resume_invalid"]
    assert len(model.requests) == 2
    await check_line(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_a_cancel_at_any_moment_leaves_a_thread_that_goes_on(world: World, seed: int) -> None:
    dice = random.Random(seed)
    serve(world, dice)
    thread = await world.thread()
    run = thread.stream()
    head = await after(dice.randrange(80), thread.cancel())
    turn = await run.turn()
    if not isinstance(head, Exception):
        assert head["status"] in ("failed", "completed", "suspended")
        assert turn.status in ("failed", "suspended")
    await check_line(thread)
    await check_not_wedged(thread)


@pytest.mark.parametrize("seed", range(ROUNDS))
async def test_everything_at_once_leaves_a_thread_that_goes_on(world: World, seed: int) -> None:
    dice = random.Random(seed)
    serve(world, dice)
    thread = await world.thread()
    impatient = await world.thread(on_busy="interrupt")
    (approval,) = (await thread.send()).approvals
    start = (await thread.history())[-1]["id"]
    calls = [
        thread.send("one"),
        impatient.send("two"),
        thread.decide({approval: True}),
        thread.retry(),
        thread.cancel(),
        impatient.rewind(start),
        thread.retry(),
    ]
    await asyncio.gather(*(after(dice.randrange(60), each) for each in calls))
    assert await at_rest(thread)
    await check_line(thread)
    await check_not_wedged(thread)
