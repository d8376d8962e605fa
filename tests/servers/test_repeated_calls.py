"""A call that comes again on another server while the first is under way: one effect, and the first one's outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from clew_storage import ApprovalRecord, Write, Written
from tests.scenarios.scripts import ask
from tests.scenarios.world import World

Make = Callable[[], World]


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
