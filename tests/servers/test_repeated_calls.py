"""A call that comes again on another server while the first is under way: one effect, and the first one's outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from clew_storage import ApprovalRecord, ThreadKey, Write, Written
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import World

Make = Callable[[], World]
KEY = ThreadKey("", "t")


def refund() -> str:
    """A tool."""
    return "refunded"


async def test_a_decision_that_is_recorded_between_two_looks_of_its_repeat_is_its_outcome(
    server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = server(), server()
    for world in (here, there):
        world.agent(ask("refund"), "done", tools=[refund], approve=["refund"])
    thread, other = await here.thread(), await there.thread()
    await thread.send()
    (one,) = await other.approvals()
    threads, approvals = here.storage.backend.threads, there.storage.backend.approvals
    append, get_approval = threads.append, approvals.get_approval
    begun, gate, recorded = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def held(write: Write) -> Written:
        monkeypatch.setattr(threads, "append", append)
        begun.set()
        await gate.wait()
        written = await append(write)
        recorded.set()
        return written

    async def late(tenant: str, approval_id: str) -> ApprovalRecord | None:
        gate.set()
        await recorded.wait()
        return await get_approval(tenant, approval_id)

    monkeypatch.setattr(threads, "append", held)
    first = asyncio.ensure_future(thread.decide({one["id"]: True}, request_id="q"))
    await begun.wait()
    monkeypatch.setattr(approvals, "get_approval", late)
    again = await other.decide({one["id"]: True}, request_id="q")
    assert again.logged == (await first).logged


async def test_a_cancel_that_comes_again_has_its_first_outcome_and_stops_no_later_run(server: Make) -> None:
    here, there = server(), server()
    gates = Gate(), Gate()
    for world in (here, there):
        world.agent(*([gate, "done"] for gate in gates))
    thread, other = await here.thread(), await there.thread()
    run = thread.stream()
    await gates[0].wait()
    first = await other.cancel(request_id="q")
    assert (first["status"], (await run.turn()).failure) == ("failed", "cancelled")
    later = thread.stream("again")
    await gates[1].wait()
    for handle in (other, thread):
        assert await handle.cancel(request_id="q") == first
    gates[1].open()
    assert (await later.turn()).text == "done"


async def test_a_send_that_waits_in_vain_for_its_own_run_on_another_server_has_that_runs_outcome(
    server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there, working = server(), server(), asyncio.Event()

    async def work() -> str:
        await working.wait()
        return "worked"

    for world in (here, there):
        world.agent(ask("work"), "done", tools=[work])
    thread, other = await here.thread(), await there.thread()
    threads = here.storage.backend.threads
    append, begun, gate = threads.append, asyncio.Event(), asyncio.Event()

    async def held(write: Write) -> Written:
        monkeypatch.setattr(threads, "append", append)
        begun.set()
        await gate.wait()
        return await append(write)

    async def waiting(count: int) -> None:
        async with asyncio.timeout(20):
            while (await threads.glance([KEY]))[KEY].waiting != count:  # noqa: ASYNC110 - no server tells of it
                await asyncio.sleep(0.01)

    monkeypatch.setattr(threads, "append", held)
    first = asyncio.ensure_future(thread.send(request_id="q"))
    await begun.wait()
    again = asyncio.ensure_future(other.send(request_id="q", busy_timeout=1))
    await waiting(1)
    gate.set()
    await waiting(0)
    working.set()
    assert (await again).logged == (await first).logged
