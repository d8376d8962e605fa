"""Promise 20: servers of two versions work on one database, whichever of them goes first; a version that is too old refuses it and leaves it as it is."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import asyncpg
import pytest

from clew_storage.postgres.migrations import known_migrations, migrate
from clew_storage.postgres.schemas import Schema
from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, named, times
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.process import Gone
from tests.faults.recovery import AFTER_A_CRASH, LOST, recover
from tests.faults.served_process import ServedProcess
from tests.faults.workload import Workload
from tests.scenarios.world import ERRORS
from tests.support.postgres import a_name, in_schema
from tests.upgrades.releases import start_released

THREADS = ("one", "two", "three")
TOLD = AFTER_A_CRASH | LOST
# Of a run that died, and that another one has followed, the last release says nothing where its send is repeated; it is `thread_interrupted` since.
TOLD_BY_THE_OLDER = TOLD | {"stream_cut"}


async def deploy(fleet: Fleet, released: Path, dice: random.Random, *, victim: int, between: str = "") -> Findings:
    """A server of the last release is at work when one of the present code comes and brings the schema up to date; both work on, until one of them goes.

    `between` is done to the schema while both are there. The fleet replaces none that ends.
    """
    journal = Journal()
    try:
        older, newer = fleet._server(), fleet._server()
        await start_released(older, released)
        fleet.servers.append(older)
        work = Workload(fleet.thread, journal, dice, dead=fleet.dead, survives=True)
        working = asyncio.create_task(work.run(THREADS))
        await newer.start()
        fleet.servers.append(newer)
        if between:
            async with fleet.schema.connected() as connection:
                await connection.execute(between)
        # Both have their share, whatever they do.
        await asyncio.wait({working}, timeout=dice.uniform(0.3, 0.8))
        await fleet.kill(fleet.servers[victim])
        work.stop()
        await working
        return await recover(fleet, journal, dice, told=TOLD_BY_THE_OLDER if victim else TOLD)
    finally:
        await fleet.close()


@pytest.mark.parametrize("lease_s", LEASES)
async def test_both_versions_serve_one_database_and_either_may_go(
    tmp_path: Path, postgres_dsn: str, released: Path, lease_s: float
) -> None:
    cycles, dice = times(lease_s, 1, 50), random.Random(20)
    for cycle in range(cycles):
        # As a deploy goes on, and as one is taken back.
        fleet = Fleet(tmp_path / f"{cycle}", postgres_dsn, dice, size=0, lease_s=lease_s)
        findings = await deploy(fleet, released, dice, victim=cycle % 2)
        assert not findings.all, "\n".join(findings.all)
    what = "the last release and this one on one database"
    figures.record(figures.Figure(20, named(what, lease_s), cycles, variants=("a step that takes away",)))


async def test_a_step_that_takes_away_what_the_older_version_needs_is_seen(
    tmp_path: Path, postgres_dsn: str, released: Path
) -> None:
    dice = random.Random(20)
    fleet = Fleet(tmp_path / "fleet", postgres_dsn, dice, size=0)
    with pytest.raises(ERRORS, match="schema lacks what Clew needs"):
        await deploy(fleet, released, dice, victim=1, between="ALTER FUNCTION append_1 RENAME TO append_0")
    figures.catch("a step that takes away")


async def test_an_older_version_refuses_a_newer_format_and_leaves_it_as_it_is(
    tmp_path: Path, postgres_dsn: str, released: Path
) -> None:
    schema = Schema(a_name("newer_"))
    connection = await asyncpg.connect(postgres_dsn)
    await migrate(connection, schema)
    newer = known_migrations()[-1].version + 1
    await connection.execute(schema.sql("INSERT INTO clew.formats (version, name) VALUES ($1, 'later')"), newer)
    rows = schema.sql("SELECT * FROM clew.formats ORDER BY version")
    before = await connection.fetch(rows)
    with pytest.raises(Gone, match="use the newer version of Clew"):
        await start_released(ServedProcess(tmp_path, in_schema(postgres_dsn, schema.name)), released)
    assert await connection.fetch(rows) == before
    await connection.close()
