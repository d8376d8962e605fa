"""Promise 15 on Postgres: where its disk is full callers are told so, reads go on, and everything continues when there is room again."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from tests.faults import databases, figures
from tests.faults.broken import BROKEN
from tests.faults.databases import THREADS, Campaign, campaign
from tests.faults.fleets import LEASE_S, LEASES, times
from tests.faults.small_disks import fill, look_at, needs_mount, small_disk
from tests.scenarios.world import ERRORS
from tests.support.postgres import KeptServer, a_server

CYCLES_A_DISK = 10
# So long a full disk may stay unnoticed: what there is of half-empty pages is used up first.
FULL_WITHIN_S = 60.0
SIZE = "80m"
pytestmark = needs_mount


@asynccontextmanager
async def on_a_small_disk(
    seed: int, *, log_apart: bool, lease_s: float = LEASE_S, broken: str = ""
) -> AsyncIterator[tuple[Campaign, Path, KeptServer]]:
    """A server whose database is on a small disk, and its log of writes too or on another one."""
    # Not in the folder of pytest, which others clean up while a file system is mounted in it.
    with tempfile.TemporaryDirectory(prefix="clew-full-") as home:
        os.chmod(home, 0o755)  # noqa: PTH101 - nothing that waits
        apart = [f"log_folder={home}/log"] if log_apart else ["max_wal_size=32MB"]
        with small_disk(Path(home), SIZE) as folder, a_server(f"folder={folder}", *apart) as database:
            servers = Path(home) / "servers"
            async with campaign(
                servers, database.dsn, seed, size=1, lease_s=lease_s, environment={BROKEN: broken}
            ) as tried:
                yield tried, folder, database


async def until(tried: Campaign, *codes: str) -> None:
    """Until a caller was told one of these; where none is, that is what was wrong."""
    try:
        async with asyncio.timeout(FULL_WITHIN_S):
            while not any(tried.met[code] for code in codes):  # noqa: ASYNC110 - callers are told one by one
                await asyncio.sleep(0.02)
    except TimeoutError:
        tried.findings.other.append(f"nobody was told {' or '.join(codes)}, but {dict(tried.met)}")


async def fill_and_free(tried: Campaign, folder: Path) -> None:
    """Run into a full disk in the middle of work, look around, and make room."""
    filler = fill(folder, leaving=tried.dice.randrange(0, 200_000))
    await until(tried, "storage_full")
    for thread in THREADS:
        try:
            await look_at(tried.fleet.thread(thread))
        except ERRORS as error:
            # Others are at work, and may delete it.
            if getattr(error, "code", "") != "thread_not_found":
                raise
    filler.unlink()


@pytest.mark.parametrize("lease_s", LEASES)
async def test_a_full_disk_is_told_read_from_and_worked_on_when_there_is_room_again(lease_s: float) -> None:
    cycles = times(lease_s, 1, 50)
    for number in range(0, cycles, CYCLES_A_DISK):
        async with on_a_small_disk(number, log_apart=True, lease_s=lease_s) as (tried, folder, _):
            for _ in range(min(CYCLES_A_DISK, cycles - number)):
                await tried.disturb("Postgres's disk is full", partial(fill_and_free, tried, folder))
            tried.record(15, "full is away")


async def fill_the_log(tried: Campaign, folder: Path, database: KeptServer) -> None:
    """Without room for its log the database refuses, or stops; somebody makes room and starts it."""
    filler = fill(folder, leaving=0)
    connection = await asyncpg.connect(database.dsn)
    with suppress(asyncpg.PostgresError, OSError):
        # What the log has of its own is used up first.
        while True:
            await connection.execute("SELECT pg_logical_emit_message(false, 'full', repeat('x', 1 << 20))")
    connection.terminate()
    await until(tried, "storage_full", "storage_unavailable")
    filler.unlink()
    await asyncio.to_thread(database.tell, "crash")


@pytest.mark.parametrize("lease_s", LEASES)
async def test_a_database_that_stopped_for_want_of_room_loses_nothing(lease_s: float) -> None:
    async with on_a_small_disk(0, log_apart=False, lease_s=lease_s) as (tried, folder, database):
        for _ in range(times(lease_s, 1, 10)):
            await tried.disturb("no room for Postgres's log", partial(fill_the_log, tried, folder, database))
        tried.record(15, "dead connection, no room for the log")


async def test_a_server_that_keeps_its_connection_to_a_database_that_stopped_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long enough for one that finds its way.
    monkeypatch.setattr(databases, "GIVEN_UP_S", databases.SOON_S)
    async with on_a_small_disk(0, log_apart=False, broken="dead connection") as (tried, folder, database):
        await tried.disturb("stopped", partial(fill_the_log, tried, folder, database))
    assert any("does not serve" in each for each in tried.findings.wedged), tried.findings
    figures.catch("dead connection, no room for the log")


async def test_a_full_disk_that_is_told_as_a_database_away_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.test_database_full_disk.FULL_WITHIN_S", 5)
    async with on_a_small_disk(0, log_apart=True, broken="full is away") as (tried, folder, _):
        await tried.disturb("full", partial(fill_and_free, tried, folder))
    assert any("nobody was told storage_full" in each for each in tried.findings.other), tried.findings
    figures.catch("full is away")
