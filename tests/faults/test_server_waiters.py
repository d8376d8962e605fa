"""Promise 11 on three servers: one queue for all, first come first served; who leaves it leaves no ticket, and who is refused is so in time."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.fleets import Fleet
from tests.faults.postgres_schema import PostgresSchema
from tests.scenarios.sights import Reader
from tests.scenarios.world import refused

pytestmark = pytest.mark.campaign

HURRIED_S = 0.5


async def queue(fleet: Fleet, waiters: int, dice: random.Random) -> list[str]:
    """Waiters through any server, of which thirty in a hundred leave; what is wrong with how the others were served."""
    gate, wrong = fleet.gate(), list[str]()
    first = fleet.thread("t").stream("first|held")
    await gate.reached()
    waiting: list[tuple[str, Reader]] = []
    for number in range(waiters):
        waiting.append((f"waiter-{number}", fleet.thread("t").stream(f"waiter-{number}")))
        await waiting[-1][1].until("run_queued")
        await tickets(fleet.schema, number + 1)
    leaving = set(dice.sample(range(waiters), waiters * 3 // 10))
    await asyncio.gather(*(waiting[number][1].leave() for number in leaving))
    gate.open()
    stayed = [each for number, each in enumerate(waiting) if number not in leaving]
    for text, reader in (("first", first), *stayed):
        await reader.until("run_completed", within_s=60)
        if (await reader.turn()).status != "completed":
            wrong.append(f"{text} was not served")
    said = [each["content"][0]["text"] for each in await fleet.thread("t").messages() if each["role"] == "user"]
    if said != (served := ["first|held", *(text for text, _ in stayed)]):
        wrong.append(f"they came as {served}, and were served as {said}")
    return wrong


async def tickets(schema: PostgresSchema, count: int) -> None:
    """Wait until there are so many places in the queue."""
    async with asyncio.timeout(20):
        while await schema.tickets() != count:  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)


async def nothing_left(schema: PostgresSchema) -> None:
    """Wait until no lease is held and nobody waits, which must not need a lease to run out."""
    async with asyncio.timeout(5):
        while await schema.tickets() or await schema.held():  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0.01)


async def test_waiters_on_three_servers_are_served_in_the_order_they_came(tmp_path: Path, postgres_dsn: str) -> None:
    waiters, dice = figures.times(20, 100), random.Random(11)
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=15.0) as fleet:
        wrong = await queue(fleet, waiters, dice)
        await nothing_left(fleet.schema)
    what = f"waiters on three servers, {waiters * 3 // 10} of them leave"
    figures.record(figures.Figure(11, what, waiters, other=len(wrong), variants=("no order of tickets",)))
    assert not wrong, "\n".join(wrong)


async def refusals(fleet: Fleet, hurried: int) -> list[float]:
    """Calls that are refused because their time to wait is over; how long after it each was told. Raises TimeoutError where one left something behind."""
    gate, late = fleet.gate(), list[float]()
    first = fleet.thread("t").stream("first|held")
    await gate.reached()
    for _ in range(hurried):
        began = time.monotonic()
        with refused("thread_busy"):
            await fleet.thread("t").send("too late", busy_timeout=HURRIED_S)
        late.append(time.monotonic() - began - HURRIED_S)
    gate.open()
    await first.turn()
    await nothing_left(fleet.schema)
    return late


async def test_waiters_on_three_servers_are_refused_when_their_time_is_over(tmp_path: Path, postgres_dsn: str) -> None:
    hurried = figures.times(6, 60)
    async with Fleet(tmp_path / "fleet", postgres_dsn, random.Random(12), lease_s=15.0) as fleet:
        late = await refusals(fleet, hurried)
    assert min(late) >= 0
    # How late the last was is a figure and no test: what else the machine does at the moment is not the server's.
    what, variants = "refused when their time was over; the latest so much after it", ("refused waiters keep tickets",)
    figures.record(figures.Figure(11, what, hurried, worst_s=max(late), variants=variants))
