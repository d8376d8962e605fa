"""Promises 4 and 5: an owner that is stopped for longer than its lease has lost its threads, and writes nothing when it comes back."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, times
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge, judge_calls
from tests.faults.recovery import finish
from tests.scenarios.world import Handle

# Where the owner may stand when it is stopped.
PLANS = ("|held_once", "|held", "|held_once held", "|fetch|held_once charge", "|held fetch|charge", "|held_once|refund")


async def pause_the_owner(fleet: Fleet, number: int, journal: Journal, dice: random.Random) -> Findings:
    """A run whose server stands still for twice its lease while others complete the thread; what it did when it came back."""
    gate, owner = fleet.gate(), dice.choice(fleet.servers)
    thread_id, text = f"t-{number}", f"turn-{number}{dice.choice(PLANS)}"
    journal.sent[text] = thread_id
    reader = journal.follow(thread_id, owner.thread(thread_id).stream(text))
    await gate.reached()
    # What had begun when the owner was stopped may come to its end after it: its effect is what idempotency keys are for.
    run = (await reader.until("run_started")).run_id
    calls = text.split("|")[1:]
    held = next(number for number, each in enumerate(calls) if "held" in each)
    await Ledger(fleet.ledger_path).started({run}, sum(len(each.split()) for each in calls[: held + 1]))
    fleet.pause(owner)
    over = asyncio.get_running_loop().time() + 2 * fleet.lease_s
    # The owner is frozen, so only the others find the gate open.
    gate.open()
    other = fleet.thread(thread_id)
    found = await finish(other, journal, dice=dice, survives=True)
    left = await contents(other)
    await asyncio.sleep(over - asyncio.get_running_loop().time())
    fleet.resume(owner)
    await reader.gone()
    if await contents(other) != left:
        found.other.append(f"{thread_id}: the owner wrote when it came back: {await contents(other)}, not {left}")
    return found


async def contents(thread: Handle) -> list[Any]:
    """All that a stale owner could change."""
    return [await thread.history(), await thread.messages(), await thread.approvals()]


async def pauses(fleet: Fleet, count: int, seed: int) -> Findings:
    """Pauses one after the other, and what is stored after them."""
    journal, dice, found = Journal(), random.Random(seed), Findings()
    for number in range(count):
        found.add(await pause_the_owner(fleet, number, journal, dice))
        figures.progress("pauses of an owner", number + 1, count)
        if found.all:
            break
    entries = Ledger(fleet.ledger_path).entries()
    found.add(judge(journal, await fleet.stored(), entries))
    found.add(judge_calls(entries))
    return found


@pytest.mark.parametrize("lease_s", LEASES)
async def test_an_owner_that_was_stopped_for_twice_its_lease_writes_nothing_and_starts_nothing_twice(
    tmp_path: Path, postgres_dsn: str, lease_s: float
) -> None:
    async with Fleet(tmp_path / "fleet", postgres_dsn, random.Random(5), lease_s=lease_s) as fleet:
        count = times(lease_s, 1, 200)
        found = await pauses(fleet, count, seed=5)
    what = f"owner stopped for twice its lease of {lease_s:g} s, three servers"
    lost, wedged, other = len(found.lost), len(found.wedged), len(found.other)
    figures.record(figures.Figure(5, what, count, lost, wedged=wedged, other=other, variants=("no fence",)))
    figures.record(figures.Figure(4, what, count, reruns=len(found.reruns), variants=("intent in memory",)))
    assert not found.all, "\n".join(found.all)
