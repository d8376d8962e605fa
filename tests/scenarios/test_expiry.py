"""What has expired counts as rejected for whoever comes first, not only for the sweep."""

from __future__ import annotations

import asyncio

from tests.scenarios.checks import outcomes
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle, World, refused


def refund(amount: int = 1) -> str:
    """A tool that people are asked about."""
    return f"refunded {amount}"


async def expired(world: World, calls: int = 1) -> tuple[Handle, list[str]]:
    """A thread that waited too long, and what for; nothing has swept it."""
    world.agent(
        [ask("refund", amount=each) for each in range(calls)], "ok", tools=[refund], approve=True, approval_ttl=60
    )
    thread = await world.thread()
    turn = await thread.send()
    world.clock.advance(61)
    return thread, turn.approvals


async def over(thread: Handle) -> None:
    """Wait until the thread's run is."""
    async with asyncio.timeout(10):
        await thread.watch(0).turn()


async def test_a_decision_that_comes_too_late_lets_the_run_go_on(world: World) -> None:
    thread, (approval,) = await expired(world)
    with refused("approval_expired"):
        await thread.decide({approval: True})
    await over(thread)
    assert (await thread.info())["status"] == "completed"
    assert await outcomes(thread) == ["rejected"]


async def test_a_send_goes_on_with_what_has_expired_and_has_its_turn_after_it(world: World) -> None:
    thread, _ = await expired(world)
    assert (await thread.send("and now?")).text == "ok"
    said = [message["role"] for message in await thread.messages()]
    assert said == ["user", "assistant", "tool", "assistant", "user", "assistant"]


async def test_a_write_goes_on_with_what_has_expired_first(world: World) -> None:
    thread, _ = await expired(world)
    await thread.update_state({"a": 1})
    assert (await thread.info())["status"] == "completed"
    assert await thread.state() == {"a": 1}


async def test_a_retry_finds_nothing_to_continue_once_the_run_went_on(world: World) -> None:
    thread, _ = await expired(world)
    with refused("resume_invalid"):
        await thread.retry()
    assert (await thread.info())["status"] == "completed"


async def test_what_has_not_expired_still_waits(world: World) -> None:
    world.agent(ask("refund"), "ok", tools=[refund], approve=True, approval_ttl=60)
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    world.clock.advance(50)
    with refused("thread_suspended"):
        await thread.send()
    assert (await thread.decide({approval: True})).text == "ok"


async def test_several_that_have_expired_are_rejected_together(world: World) -> None:
    thread, approvals = await expired(world, calls=2)
    with refused("approval_expired"):
        await thread.decide({approvals[0]: True})
    await over(thread)
    assert await outcomes(thread) == ["rejected", "rejected"]
