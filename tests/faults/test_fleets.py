"""What a fleet leaves on a database that was named for the tests: nothing."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import asyncpg
import pytest

from tests.faults.fleets import Fleet
from tests.support.postgres import a_server, some_dsn

_SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"


async def test_a_server_that_is_named_for_the_tests_has_no_schema_of_a_fleet_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work_on_it() -> tuple[list[str], list[str]]:
        """In a thread, for it clears up with an event loop of its own."""
        with some_dsn() as dsn:
            asyncio.run(serve(dsn))
            meanwhile = asyncio.run(schemas(dsn))
        return meanwhile, asyncio.run(schemas(dsn))

    async def serve(dsn: str) -> None:
        async with Fleet(tmp_path / "fleet", dsn, random.Random(1), size=1):
            pass

    async def schemas(dsn: str) -> list[str]:
        connection = await asyncpg.connect(dsn)
        rows = await connection.fetch(_SCHEMAS)
        await connection.close()
        return [row[0] for row in rows]

    with a_server() as server:
        monkeypatch.setenv("CLEW_TEST_POSTGRES", server.dsn)
        meanwhile, at_the_end = await asyncio.to_thread(work_on_it)
    assert len(meanwhile) == 2
    assert at_the_end == ["public"]
