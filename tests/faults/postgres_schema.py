"""A schema of a Postgres database by plain SQL: what it holds, and how one of its guards is taken out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import asyncpg

from clew_storage.state_changes import decode_delta
from tests.faults.stored import (
    APPROVALS,
    SOURCES,
    STATUSES,
    Row,
    Stored,
    StoredThread,
    note_gaps,
    put_message,
    put_row,
)

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Key = tuple[str, str]


class PostgresSchema:
    """One schema, read and broken from beside the servers that use it."""

    def __init__(self, dsn: str, name: str) -> None:
        self.dsn = dsn
        self.name = name

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        """A connection in which the schema need not be named."""
        connection = await asyncpg.connect(self.dsn, server_settings={"search_path": self.name})
        try:
            yield connection
        finally:
            await connection.close()

    async def read(self) -> Stored:
        """Read everything as of one moment, and note what is not as it must be."""
        found = Stored()
        async with self.connected() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            threads = await _read_threads(connection, found)
            await _read_checkpoints(connection, threads, found)
            await _read_messages(connection, threads, found)
            await _read_changes(connection, threads)
            for approval, state in await connection.fetch("SELECT id, state FROM approvals"):
                found.approvals[approval.decode()] = APPROVALS[state]
        note_gaps(found)
        return found

    async def tickets(self) -> int:
        """How many places there are in the queues of all threads."""
        async with self.connected() as connection:
            return int(await connection.fetchval("SELECT count(*) FROM tickets"))

    async def held(self) -> int:
        """How many leases have a holder, alive or not."""
        async with self.connected() as connection:
            return int(await connection.fetchval("SELECT count(*) FROM leases WHERE server IS NOT NULL"))

    async def take_out(self, function: str, guard: str, instead: str) -> None:
        """Put something in the place of a guard in one of the schema's functions, for all servers from now on."""
        async with self.connected() as connection:
            source = await connection.fetchval("SELECT pg_get_functiondef($1::regproc)", f"{self.name}.{function}")
            assert source.count(guard) == 1, f"{function} has {guard!r} {source.count(guard)} times"
            await connection.execute(source.replace(guard, instead))


async def _read_threads(connection: Connection, found: Stored) -> dict[Key, StoredThread]:
    threads: dict[Key, StoredThread] = {}
    rows = await connection.fetch("SELECT tenant, thread_id, uid, head, name FROM threads WHERE uid IS NOT NULL")
    for tenant, thread_id, uid, head, name in rows:
        thread = StoredThread(thread_id, uid, head, name.decode())
        threads[tenant, thread_id] = found.threads[uid] = thread
    return threads


async def _read_checkpoints(connection: Connection, threads: dict[Key, StoredThread], found: Stored) -> None:
    rows = await connection.fetch(
        "SELECT tenant, thread_id, version, parent, run_version, status, source, body FROM checkpoints"
    )
    for tenant, thread_id, version, parent, run_version, status, source, body in rows:
        thread = threads.get((tenant, thread_id))
        if thread is None:
            found.problems.append(f"{thread_id}: checkpoint {version} of a thread that is not there")
            continue
        before = version - 1 if parent is None else parent
        row = Row(version, before, STATUSES[status], SOURCES[source], f"{thread.uid}.r{run_version}")
        put_row(found, thread, row, body)


async def _read_changes(connection: Connection, threads: dict[Key, StoredThread]) -> None:
    rows = await connection.fetch("SELECT tenant, thread_id, version, change FROM state_changes")
    for tenant, thread_id, version, change in rows:
        if thread := threads.get((tenant, thread_id)):
            values = decode_delta(change).values.items()
            thread.changes[version] = {key: json.loads(value) for key, value in values if isinstance(value, bytes)}


async def _read_messages(connection: Connection, threads: dict[Key, StoredThread], found: Stored) -> None:
    rows = await connection.fetch(
        "SELECT tenant, thread_id, version, position, number, message_id, created_at_ms, body FROM messages"
    )
    for tenant, thread_id, version, position, number, message_id, created, body in rows:
        thread = threads.get((tenant, thread_id))
        if thread is None:
            found.problems.append(f"{thread_id}: a message of a thread that is not there: {body[:80]!r}")
            continue
        name = message_id.decode() if number is None else f"m{version}.{number}"
        put_message(found, thread, name, body, version=version, position=position, created_at_ms=created)
