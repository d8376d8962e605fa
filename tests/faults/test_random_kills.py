"""Promises 1 and 3: what was acknowledged survives `kill -9` at any moment, nothing finished runs again, and no thread is wedged."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, times
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.process import Process, UnderTest
from tests.faults.recovery import recover
from tests.faults.served_process import ServedProcess
from tests.faults.workload import Workload

THREADS = ("one", "two", "three")
# Cycles on one file: long enough for history to pile up, short enough for the judge to read all of it every time.
CYCLES_A_FILE = 10
CYCLES_A_SCHEMA = 10


async def kill_at_random(process: UnderTest, seed: int, cycles: int) -> Findings:
    """Cycles of work, death and recovery on one database."""
    dice, journal, findings = random.Random(seed), Journal(), Findings()
    await process.start()
    for _ in range(cycles):
        work = Workload(process.thread, journal, dice, dead=process.dead, survives=process.survives)
        working = asyncio.create_task(work.run(THREADS))
        # The moment must not depend on anything that the process does.
        await asyncio.wait({working}, timeout=dice.uniform(0.02, 0.4))
        await process.kill()
        if process.survives:
            # Clients go on with the others until it is back.
            await process.start()
            work.stop()
        await working
        findings.add(await recover(process, journal, dice))
        if findings.all:
            break
    await process.kill()
    await process.hang_up()
    return findings


@pytest.mark.parametrize(
    ("make", "how", "short", "full"), [(Process, "in process", 10, 250), (ServedProcess, "clew serve, gRPC", 5, 250)]
)
async def test_nothing_acknowledged_is_lost_and_nothing_finished_runs_again(
    tmp_path: Path, make: Callable[[Path], UnderTest], how: str, short: int, full: int
) -> None:
    cycles, findings = figures.times(short, full), Findings()
    for number in range(0, cycles, CYCLES_A_FILE):
        at_most = min(CYCLES_A_FILE, cycles - number)
        findings.add(await kill_at_random(make(tmp_path / f"{number}"), seed=number, cycles=at_most))
        assert not findings.all, "\n".join(findings.all)
    keep(f"kill -9 at random, {how}", cycles, findings, "result in memory")


@pytest.mark.parametrize("lease_s", LEASES)
async def test_nothing_is_lost_and_nothing_runs_again_when_one_of_three_servers_is_killed(
    tmp_path: Path, postgres_dsn: str, lease_s: float
) -> None:
    cycles, findings = times(lease_s, 1, 500), Findings()
    for number in range(0, cycles, CYCLES_A_SCHEMA):
        async with Fleet(tmp_path / f"{number}", postgres_dsn, random.Random(number), lease_s=lease_s) as fleet:
            findings.add(await kill_at_random(fleet, seed=number, cycles=min(CYCLES_A_SCHEMA, cycles - number)))
        figures.progress("kills of one of three servers", min(number + CYCLES_A_SCHEMA, cycles), cycles)
        assert not findings.all, "\n".join(findings.all)
    what = f"kill -9 of one of three servers, Postgres, lease {lease_s:g} s"
    keep(what, cycles, findings, "result in memory, three servers")


def keep(what: str, cycles: int, found: Findings, variant: str) -> None:
    """The figures of both promises."""
    lost, wedged = len(found.lost), len(found.wedged)
    figures.record(figures.Figure(1, what, cycles, lost, wedged=wedged, other=len(found.other), variants=(variant,)))
    figures.record(figures.Figure(3, what, cycles, reruns=len(found.reruns), variants=(variant,)))
