"""What retention costs those who work beside it and after it: rows that a read and a write look at, and no query that looks through everything."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from clew_storage import Backend, IdleFilter, Status, ThreadKey, Trim
from clew_storage.conformance.examples import KEY, NOW, OTHER, UID, a_grant, a_line, a_write, fork, grow
from clew_storage.postgres import PostgresBackend
from clew_storage.postgres.states import read_pieces
from clew_storage.sqlite import SqliteBackend
from tests.support.postgres import in_schema

LENGTH = 400


@pytest.fixture
async def in_file(tmp_path: Path) -> AsyncIterator[SqliteBackend]:
    backend = SqliteBackend(tmp_path / "clew.db", url="sqlite://")
    await backend.open()
    yield backend
    await backend.close()


@pytest.fixture
async def postgres(postgres_dsn: str) -> AsyncIterator[PostgresBackend]:
    backend = PostgresBackend.of_url(in_schema(postgres_dsn))
    await backend.open()
    yield backend
    await backend.close()


async def grown(backend: Backend) -> None:
    """A long thread at rest."""
    await backend.leases.release(await a_line(backend, LENGTH))


async def goes_on(backend: Backend, version: int) -> None:
    """Two more versions."""
    grant = await a_grant(backend)
    await grow(backend, grant, range(version, version + 2))
    await backend.leases.release(grant)


async def pieces_on_sqlite(backend: SqliteBackend) -> int:
    """How many rows the newest state is read from."""

    def count(opened: object) -> int:
        query = (
            "SELECT (SELECT count(*) FROM folds), (SELECT count(*) FROM state_changes "
            "WHERE id > coalesce((SELECT max(id) FROM folds), 0))"
        )
        return sum(opened.execute(query).fetchone())  # type: ignore[attr-defined]

    return await backend._opened().readers.read(count)


async def pieces_on_postgres(backend: PostgresBackend) -> int:
    """How many rows the newest state is read from."""
    session = backend._opened()
    head = await backend.threads.get_head(KEY)
    assert head is not None
    pieces = await session.read(
        lambda connection: read_pieces(
            connection, session.schema, KEY, head.line, on_head_line=True, oldest=head.oldest_version
        )
    )
    return len(pieces.parts)


@pytest.mark.parametrize("oldest", [2, 57, 300, LENGTH])
async def test_after_a_trim_the_state_is_read_from_no_more_rows_than_before(
    in_file: SqliteBackend, oldest: int
) -> None:
    await grown(in_file)
    before = await pieces_on_sqlite(in_file)
    assert await in_file.retention.trim_thread(Trim(KEY, UID, LENGTH, oldest))
    assert await pieces_on_sqlite(in_file) <= before
    await goes_on(in_file, LENGTH + 1)
    assert await pieces_on_sqlite(in_file) <= before + 2


@pytest.mark.parametrize("oldest", [57, 300])
async def test_the_same_on_postgres(postgres: PostgresBackend, oldest: int) -> None:
    await grown(postgres)
    before = await pieces_on_postgres(postgres)
    assert await postgres.retention.trim_thread(Trim(KEY, UID, LENGTH, oldest))
    assert await pieces_on_postgres(postgres) <= before
    await goes_on(postgres, LENGTH + 1)
    assert await pieces_on_postgres(postgres) <= before + 2


async def test_a_trimmed_thread_takes_the_room_of_what_is_left(in_file: SqliteBackend) -> None:
    grant = await a_line(in_file, LENGTH)
    await fork(in_file, grant, LENGTH + 1, LENGTH - 50)
    await in_file.leases.release(grant)
    assert await in_file.retention.trim_thread(Trim(KEY, UID, LENGTH + 1, LENGTH - 59))

    def count(opened: object) -> list[int]:
        tables = ("checkpoints", "state_changes", "messages")
        return [opened.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]  # type: ignore[attr-defined]

    assert await in_file._opened().readers.read(count) == [11, 10, LENGTH - 50]


def plan_of(opened: sqlite3.Connection, sql: str) -> list[str]:
    return [step for *_, step in opened.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]


async def test_no_statement_of_a_sweep_looks_through_a_table(in_file: SqliteBackend) -> None:
    grant = await a_line(in_file, 10)
    await fork(in_file, grant, 11, 8)
    await in_file.leases.release(grant)
    statements: list[str] = []
    session = in_file._opened()
    connections = [*session.readers._busy, session.writer._connection]  # type: ignore[union-attr]
    for connection in connections:
        await connection.run(lambda opened: opened.set_trace_callback(statements.append))
    where = IdleFilter((Status.IN_PROGRESS,), NOW + 99, ("support",), ("ada",), 1)
    found = await in_file.retention.list_idle(where, after=ThreadKey("", ""), limit=9)
    assert await in_file.retention.trim_thread(Trim(KEY, UID, 11, 4))
    assert await in_file.retention.delete_idle(found, now_ms=NOW) == [KEY]
    plans: list[str] = []
    for sql in statements:
        if sql.startswith(("SELECT", "UPDATE", "DELETE")):
            plans += await connections[0].run(partial(plan_of, sql=sql))
    assert len(plans) > 20
    assert [step for step in plans if step.startswith("SCAN") and "CONSTANT ROW" not in step] == []


async def test_writers_get_their_turn_while_a_sweep_goes_on(in_file: SqliteBackend) -> None:
    for number in range(40):
        await in_file.leases.release(await a_line(in_file, 20, ThreadKey("acme", f"old{number:02}")))
    grant = await a_line(in_file, 1, OTHER)
    found = list(await in_file.retention.list_idle(IdleFilter(), after=None, limit=99))
    done: list[int] = []

    async def write() -> None:
        for version in range(2, 12):
            await in_file.threads.append(a_write(grant, version))
            done.append(version)

    writing = asyncio.ensure_future(write())
    for start in range(0, 40, 4):
        assert len(await in_file.retention.delete_idle(found[start : start + 4], now_ms=NOW)) == 4
    assert len(done) >= 5, "between two parts of a sweep others write"
    await writing
