"""Promises 1 and 3: what was acknowledged survives `kill -9` at any moment, nothing finished runs again, and no thread is wedged."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from tests.faults import figures
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.process import Gone, Process
from tests.faults.recovery import recover
from tests.faults.workload import Workload

THREADS = ("one", "two", "three")
# Cycles on one file: long enough for history to pile up, short enough for the judge to read all of it every time.
CYCLES_A_FILE = 10


async def kill_at_random(folder: Path, seed: int, cycles: int, **environment: str) -> Findings:
    """Cycles of work, death and recovery on one file."""
    dice, journal, findings = random.Random(seed), Journal(), Findings()
    process = Process(folder, **environment)
    await process.start()
    for _ in range(cycles):
        work = Workload(process.thread, journal, dice, dead=lambda error: isinstance(error, Gone))
        working = asyncio.create_task(work.run(THREADS))
        # The moment must not depend on anything that the process does.
        await asyncio.wait({working}, timeout=dice.uniform(0.02, 0.4))
        await process.kill()
        await working
        findings.add(await recover(process, journal, dice))
        if findings.all:
            break
    await process.kill()
    return findings


async def test_nothing_acknowledged_is_lost_and_nothing_finished_runs_again_after_kills_at_random(
    tmp_path: Path,
) -> None:
    cycles, findings = figures.times(10, 250), Findings()
    for number in range(0, cycles, CYCLES_A_FILE):
        findings.add(await kill_at_random(tmp_path / f"{number}", seed=number, cycles=CYCLES_A_FILE))
        assert findings.all == []
    figures.record(
        figures.Figure(
            1, "kill -9 at random, in process", cycles, *map(len, (findings.lost, findings.reruns, findings.wedged))
        )
    )
