"""Promise 2 on Postgres: what was acknowledged survives a power cut; where Postgres is told not to sync it would not, and the same check says so."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.faults import figures
from tests.faults.databases import Campaign, campaign
from tests.faults.fleets import LEASE_S, LEASES, times
from tests.faults.power_cuts import RealDisk
from tests.support.postgres import KeptServer, a_server

CUTS_A_DISK = 10
_SIZE = 300 << 20


# Takes loop devices, which not every machine that runs the short form has.
pytestmark = pytest.mark.campaign


async def cut(disk: RealDisk, database: KeptServer) -> None:
    """The power goes under the database, and comes back; somebody starts it."""
    disk.shut_down()
    await asyncio.to_thread(database.tell, "kill")
    await asyncio.to_thread(disk.remove)
    disk.mount()
    await asyncio.to_thread(database.tell, "start")


@asynccontextmanager
async def on_a_real_disk(
    seed: int, *options: str, lease_s: float = LEASE_S
) -> AsyncIterator[tuple[Campaign, RealDisk, KeptServer]]:
    """A server whose database is on a file system of its own."""
    # Not in the folder of pytest, which others clean up while a file system is mounted in it.
    with tempfile.TemporaryDirectory(prefix="clew-power-") as home:
        os.chmod(home, 0o755)  # noqa: PTH101 - nothing that waits
        disk = RealDisk(Path(home), _SIZE)
        try:
            disk.folder.chmod(0o777)
            with a_server(f"folder={disk.folder}", *options) as database:
                async with campaign(Path(home) / "servers", database.dsn, seed, size=1, lease_s=lease_s) as tried:
                    # What was there before counts for nothing.
                    os.sync()
                    yield tried, disk, database
        finally:
            disk.remove()


@pytest.mark.parametrize("lease_s", LEASES)
async def test_nothing_acknowledged_is_lost_in_a_power_cut(lease_s: float) -> None:
    cuts = times(lease_s, 2, 50)
    for number in range(0, cuts, CUTS_A_DISK):
        async with on_a_real_disk(number, lease_s=lease_s) as (tried, disk, database):
            for _ in range(min(CUTS_A_DISK, cuts - number)):
                await tried.disturb("power cut, Postgres on ext4", partial(cut, disk, database))
            tried.record(2, "fsync off")


async def test_a_database_that_does_not_sync_is_seen_to_lose() -> None:
    async with on_a_real_disk(0, "fsync=off") as (tried, disk, database):
        await tried.disturb("power cut without fsync", partial(cut, disk, database))
    assert tried.findings.lost, tried.findings
    figures.catch("fsync off")
