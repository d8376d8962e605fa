"""Promise 15: a full disk is refused honestly, reads go on meanwhile, and everything continues when there is room again."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.faults import figures, stored
from tests.faults.broken import BROKEN
from tests.faults.journal import Journal
from tests.faults.ledger import Ledger
from tests.faults.oracle import Findings, judge
from tests.faults.process import Process, Refused
from tests.faults.recovery import ask_again, finish
from tests.faults.small_disks import fill, look_at, needs_mount, small_disk
from tests.faults.workload import EXPECTED, Workload

THREADS = ("one", "two", "three")
# The honest one, and what a server might say instead.
REFUSALS = frozenset({"storage_full", "storage_unavailable"})


@asynccontextmanager
async def served_on(folder: Path, home: Path, **environment: str) -> AsyncIterator[Process]:
    """A process on the small disk; its ledger lies elsewhere."""
    process = Process(folder, home, **environment)
    await process.start()
    try:
        yield process
    finally:
        await process.kill()


async def until_full(process: Process, journal: Journal, dice: random.Random) -> set[str]:
    """Work until calls are refused as a full disk, or what a server might take for one, refuses them; the codes of these refusals."""
    codes: set[str] = set()

    def is_refused(error: Exception) -> bool:
        code = error.code if isinstance(error, Refused) else ""
        if code in EXPECTED:
            return False
        codes.add(code)
        return code in REFUSALS

    async with asyncio.timeout(30):
        await Workload(process.thread, journal, dice, dead=is_refused).run(THREADS)
    return codes


@needs_mount
async def test_a_full_disk_is_told_read_from_and_worked_on_when_there_is_room_again() -> None:
    times, findings, dice = figures.times(4, 50), Findings(), random.Random(15)
    for _ in range(times):
        # Not in the folder of pytest, which others clean up while a file system is mounted in it.
        with tempfile.TemporaryDirectory(prefix="clew-full-") as home, small_disk(Path(home)) as folder:
            async with served_on(folder, Path(home)) as process:
                findings.add(await fill_and_free(process, folder, dice))
            assert not findings.all, "\n".join(findings.all)
    lost, reruns, wedged = map(len, (findings.lost, findings.reruns, findings.wedged))
    variants = ("full is away, one file",)
    figures.record(figures.Figure(15, "full disk, then room again", times, lost, reruns, wedged, variants=variants))


@needs_mount
async def test_a_full_disk_that_is_told_as_a_database_away_is_seen() -> None:
    with tempfile.TemporaryDirectory(prefix="clew-full-") as home, small_disk(Path(home)) as folder:
        async with served_on(folder, Path(home), **{BROKEN: "full is away"}) as process:
            findings = await fill_and_free(process, folder, random.Random(15))
    assert findings.other == ["on a full disk callers were told {'storage_unavailable'}"]
    figures.catch("full is away, one file")


async def fill_and_free(process: Process, folder: Path, dice: random.Random) -> Findings:
    """Run into a full disk in the middle of work, look around, make room, and go on."""
    journal, findings = Journal(), Findings()
    text = "first|fetch"
    journal.sent[text] = THREADS[0]
    await journal.follow(THREADS[0], process.thread(THREADS[0]).stream(text)).turn()
    filler = fill(folder, leaving=dice.randrange(0, 200_000))
    codes = await until_full(process, journal, dice)
    if codes != {"storage_full"}:
        findings.other.append(f"on a full disk callers were told {codes}")
        return findings
    for thread in THREADS:
        await look_at(process.thread(thread))
    filler.unlink()
    await ask_again(process.thread, journal)
    for thread in THREADS:
        findings.add(await finish(process.thread(thread), journal, dice=dice))
    await process.kill()
    findings.add(judge(journal, stored.read(process.database), Ledger(process.ledger_path).entries()))
    return findings
