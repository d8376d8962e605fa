"""Promise 2: what was acknowledged survives a power cut; with a weaker sync it would not, and the same check says so."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.broken import BROKEN
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.power_cuts import Disk, RealDisk, RecordedDisk
from tests.faults.process import Gone, Process
from tests.faults.recovery import recover
from tests.faults.workload import Workload

CUTS_A_DISK = 8
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler for the recording disk")
DISKS: list[Callable[[Path], Disk]] = [RecordedDisk, RealDisk] if figures.FULL else [RecordedDisk]


async def cut_at_random(home: Path, make: Callable[[Path], Disk], seed: int, cuts: int, **environment: str) -> Findings:
    """Work on one disk, with cuts of its power in the middle."""
    dice, journal, findings = random.Random(seed), Journal(), Findings()
    disk = make(home)
    process = Process(disk.folder, home, **disk.environment, **environment)
    try:
        for _ in range(cuts):
            await process.start()
            work = Workload(process.thread, journal, dice, dead=lambda error: isinstance(error, Gone))
            working = asyncio.create_task(work.run(("one", "two", "three")))
            # The power goes without regard to what the process does.
            await asyncio.wait({working}, timeout=dice.uniform(0.05, 0.5))
            await disk.cut(process, dice)
            await asyncio.wait({working})
            findings.add(await recover(process, journal, dice))
            await process.kill()
            if findings.all:
                break
    finally:
        disk.remove()
    return findings


@needs_compiler
@pytest.mark.parametrize("make", DISKS)
async def test_nothing_acknowledged_is_lost_in_a_power_cut(make: Callable[[Path], Disk]) -> None:
    cuts, findings = figures.times(8, 200 if make is RecordedDisk else 40), Findings()
    for number in range(0, cuts, CUTS_A_DISK):
        # Not in the folder of pytest, which others clean up while a file system is mounted in it.
        with tempfile.TemporaryDirectory(prefix="clew-power-") as home:
            findings.add(await cut_at_random(Path(home), make, number, CUTS_A_DISK))
        assert not findings.all, "\n".join(findings.all)
    counts = (len(findings.lost), len(findings.reruns), len(findings.wedged))
    figures.record(figures.Figure(2, f"power cut, {make.__name__}", cuts, *counts, variants=("normal sync",)))


@needs_compiler
@pytest.mark.parametrize("make", DISKS)
async def test_a_weaker_sync_loses_what_was_acknowledged(make: Callable[[Path], Disk]) -> None:
    with tempfile.TemporaryDirectory(prefix="clew-power-") as home:
        findings = await cut_at_random(Path(home), make, 0, CUTS_A_DISK, **{BROKEN: "normal sync"})
    assert findings.lost
    figures.catch("normal sync")
