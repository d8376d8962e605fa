"""Promise 20: what the last release stored is read as that release told it, and every thread of it goes on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from clew_storage.postgres import migrations as postgres_migrations
from clew_storage.postgres.schemas import Schema
from clew_storage.sqlite import migrations as sqlite_migrations
from tests.faults.gates import FileGate
from tests.faults.process import ROOT
from tests.faults.served_process import ServedProcess
from tests.support.postgres import a_name, in_schema
from tests.upgrades.releases import HERE, digest
from tests.upgrades.stories import THREADS, go_on, tell

RELEASED = {line.split()[1]: line.split()[0] for line in (HERE / "steps.txt").read_text().splitlines()}


def format_of(backend: str) -> int:
    """The format that the last release knew."""
    return sum(f"/{backend}/" in step for step in RELEASED)


async def postgres_of_the_release(dsn: str) -> str:
    """A schema as the last release left it."""
    schema = Schema(a_name("released_"))
    connection = await asyncpg.connect(dsn)
    await postgres_migrations.migrate(connection, schema, upto=format_of("postgres"))
    await connection.execute(schema.sql((HERE / "postgres.sql").read_text()))
    await connection.close()
    return in_schema(dsn, schema.name, lease_s=2)


def sqlite_of_the_release(database: Path) -> None:
    """A file as the last release left it."""
    database.parent.mkdir()
    connection = sqlite3.connect(database, isolation_level=None)
    sqlite_migrations.migrate(connection, upto=format_of("sqlite"))
    connection.executescript((HERE / "sqlite.sql").read_text())
    connection.close()


@pytest.fixture(params=["sqlite", "postgres"])
async def upgraded(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[ServedProcess, dict[str, dict[str, Any]]]]:
    """A server of the present code on the last release's database, and what that release told of each thread."""
    folder, url = tmp_path / "server", ""
    if request.param == "postgres":
        url = await postgres_of_the_release(request.getfixturevalue("postgres_dsn"))
    else:
        sqlite_of_the_release(folder / "clew.db")
    gate = FileGate(tmp_path / "gate")
    gate.open()
    server = ServedProcess(folder, url)
    await server.start(**gate.environment)
    yield server, json.loads((HERE / f"{request.param}.json").read_text())
    await server.kill()
    await server.hang_up()


def without_news(now: Any, then: Any) -> Any:
    """What is told now, without fields that there were none of then."""
    if isinstance(now, dict) and isinstance(then, dict):
        return {name: without_news(value, then[name]) for name, value in now.items() if name in then}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [without_news(*each) for each in zip(now, then, strict=True)]
    return now


async def test_every_thread_of_the_last_release_reads_as_it_did_and_goes_on(
    upgraded: tuple[ServedProcess, dict[str, dict[str, Any]]],
) -> None:
    server, told = upgraded
    for thread_id in THREADS:
        then = told[thread_id]
        now = json.loads(json.dumps(await tell(server.thread(thread_id))))
        assert without_news(now, then) == then
        assert await go_on(server.thread(thread_id), then["info"]["status"]) == "completed"


@pytest.mark.parametrize("step", RELEASED)
def test_a_published_step_is_never_changed(step: str) -> None:
    assert digest(ROOT / step) == RELEASED[step]
