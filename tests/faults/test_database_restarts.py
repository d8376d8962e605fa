"""Promise 13: a database that crashes and comes back, and connections that are cut off, need no one: the same servers go on within seconds, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import asyncpg
import pytest

from tests.faults import databases, figures
from tests.faults.broken import BROKEN
from tests.faults.databases import campaign
from tests.faults.fleets import LEASES, times
from tests.support.postgres import KeptServer, a_server, set_option

# As rarely as Postgres can be told to write down what nobody waits for: what was not waited for is lost in a crash.
_LAZY = "wal_writer_delay=10s"
CYCLES_A_SCHEMA = 10


@pytest.fixture(scope="module")
def database() -> Iterator[KeptServer]:
    """A server of this file's own, for it is crashed."""
    with a_server(_LAZY) as server:
        yield server


async def crash(server: KeptServer) -> None:
    """As `kill -9` of the whole database: nothing is written down, and it starts anew."""
    await asyncio.to_thread(server.tell, "crash")


async def sever(server: KeptServer) -> None:
    """End every connection, and those that are made anew too."""
    connection = await asyncpg.connect(server.dsn)
    for _ in range(3):
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'clew'"
        )
        await asyncio.sleep(0.05)
    await connection.close()


@pytest.mark.parametrize("lease_s", LEASES)
async def test_servers_go_on_within_seconds_and_nothing_is_lost(
    tmp_path: Path, database: KeptServer, lease_s: float
) -> None:
    cycles = times(lease_s, 2, 50)
    for number in range(0, cycles, CYCLES_A_SCHEMA):
        async with campaign(tmp_path / f"{number}", database.dsn, seed=number, lease_s=lease_s) as tried:
            for _ in range(min(CYCLES_A_SCHEMA, cycles - number)):
                await tried.disturb("Postgres crashes and restarts", partial(crash, database))
                await tried.disturb("all connections are severed", partial(sever, database))
            tried.record(13, "dead connection", "synchronous_commit off")


async def test_a_server_that_keeps_a_dead_connection_is_seen(
    tmp_path: Path, database: KeptServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for one that finds its way.
    monkeypatch.setattr(databases, "GIVEN_UP_S", databases.SOON_S)
    async with campaign(tmp_path, database.dsn, seed=0, size=1, environment={BROKEN: "dead connection"}) as tried:
        await tried.disturb("severed", partial(sever, database))
    assert any("does not serve" in each for each in tried.findings.wedged), tried.findings
    figures.catch("dead connection")


async def test_writes_that_do_not_wait_for_the_disk_are_seen_as_lost(tmp_path: Path, database: KeptServer) -> None:
    """Turned off behind the back of servers that have seen it on; one that starts now refuses."""
    async with campaign(tmp_path, database.dsn, seed=0, size=1) as tried:
        await set_option(database.dsn, "synchronous_commit", "off")
        try:
            await tried.disturb("crashed", partial(crash, database))
        finally:
            await set_option(database.dsn, "synchronous_commit", None)
    assert tried.findings.lost, tried.findings
    figures.catch("synchronous_commit off")
