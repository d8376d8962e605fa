"""Promises 5 and 13: many threads lose their owner at one moment, and everybody wants each of them; one gets it, soon, and no one else."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, times
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_calls
from tests.faults.recovery import LOST
from tests.scenarios.sights import Reader
from tests.scenarios.world import ERRORS, Handle

pytestmark = pytest.mark.campaign

THREADS, TAKERS = 10, 3


@dataclass
class Storm:
    """What came of one; `took_s` is how long after its owner was gone each thread was run by another."""

    found: Findings = field(default_factory=Findings)
    took_s: list[float] = field(default_factory=list)


async def storm(fleet: Fleet, number: int, journal: Journal, dice: random.Random, *, threads: int) -> Storm:
    """One server owns the threads and is killed, or stopped; then all the others are asked for all of them at once."""
    gate, owner, met = fleet.gate(), dice.choice(fleet.servers), Storm()
    ids = [f"storm-{number}-{each}" for each in range(threads)]
    owned: list[Reader] = []
    runs: set[str] = set()
    for thread_id in ids:
        reader, run = await _owned(owner.thread(thread_id), journal)
        owned.append(reader)
        runs.add(run)
    await Ledger(fleet.ledger_path).started(runs, 2 * threads)
    killed = number % 2 == 0
    if killed:
        await fleet.kill(owner)
    else:
        fleet.pause(owner)
    gone = asyncio.get_running_loop().time()
    gate.open()
    await asyncio.gather(*(taken(fleet, each, gone, journal, met) for each in ids))
    if killed:
        await fleet.start()
    else:
        fleet.resume(owner)
    for reader in owned:
        await reader.gone()
    return met


async def _owned(thread: Handle, journal: Journal) -> tuple[Reader, str]:
    """A run that has begun, and its id. A server that loses the lease before that has written nothing."""
    text = f"turn-{thread.id}|held fetch"
    journal.sent[text] = thread.id
    while True:
        reader = journal.follow(thread.id, thread.stream(text))
        try:
            return reader, (await reader.until("run_started")).run_id
        except ERRORS as error:
            if getattr(error, "code", "") not in LOST:
                raise


async def taken(fleet: Fleet, thread_id: str, gone: float, journal: Journal, met: Storm) -> None:
    """Several ask for a thread whose owner is gone: one goes on with its run, the others find it done."""
    began: list[float] = []
    await asyncio.gather(*(_take(fleet, thread_id, journal, began) for _ in range(TAKERS)))
    met.took_s.append(min(began, default=gone + 60) - gone)
    if (status := (await fleet.thread(thread_id).info())["status"]) != "completed":
        met.found.wedged.append(f"{thread_id} is {status} after all who asked for it were answered")


async def _take(fleet: Fleet, thread_id: str, journal: Journal, began: list[float]) -> None:
    """Ask until the run went on, or was done."""
    while True:
        reader = journal.follow(thread_id, fleet.thread(thread_id).stream_retry())
        try:
            await reader.until("run_started", within_s=60)
            began.append(asyncio.get_running_loop().time())
            await reader.turn()
        except ERRORS as error:
            if getattr(error, "code", "") == "resume_invalid":
                return
            # On a machine that is busy enough also a server that lives may lose a thread.
            if getattr(error, "code", "") not in LOST:
                raise
        else:
            return


@pytest.mark.parametrize("lease_s", LEASES)
async def test_of_all_who_ask_for_a_thread_without_an_owner_one_gets_it(
    tmp_path: Path, postgres_dsn: str, lease_s: float
) -> None:
    threads = figures.times(5, THREADS)
    journal, dice, found, took = Journal(), random.Random(13), Findings(), list[float]()
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=lease_s) as fleet:
        storms = times(lease_s, 2, 50)
        for number in range(storms):
            met = await storm(fleet, number, journal, dice, threads=threads)
            found.add(met.found)
            took += met.took_s
            assert not found.all, "\n".join(found.all)
            figures.progress("storms of takeovers", number + 1, storms)
        entries = Ledger(fleet.ledger_path).entries()
        found.add(judge(journal, await fleet.stored(), entries))
        found.add(judge_calls(entries))
    counts = (len(found.lost), len(found.reruns), len(found.wedged), len(found.other))
    what = f"takeovers, {threads} at a time by {TAKERS} callers each, lease {lease_s:g} s"
    figures.record(
        figures.Figure(13, what, storms * threads, *counts, worst_s=max(took), variants=("takeover without expiry",))
    )
    assert not found.all, "\n".join(found.all)
