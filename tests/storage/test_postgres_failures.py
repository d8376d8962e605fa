"""A database that goes away, comes back, is full or busy: honest answers meanwhile, and everything goes on after."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

import asyncpg
import pytest

from clew_storage import Grant, StorageFull, StorageUnavailable, ThreadKey
from clew_storage.conformance.backend_promises import CALLS
from clew_storage.conformance.examples import KEY, UID, a_grant, a_line, a_message, a_request, a_write
from clew_storage.errors import StorageError
from clew_storage.postgres import PostgresBackend
from clew_storage.postgres.appends import append_all
from clew_storage.postgres.failures import translate
from tests.storage.postgres_backends import opened
from tests.support.pgbouncer import pooled
from tests.support.postgres import KeptServer, a_server, set_option

CYCLES = 50 if os.environ.get("CLEW_FAULTS") == "full" else 3


@pytest.fixture(scope="module")
def server() -> Iterator[KeptServer]:
    """A server of this file's own, for it is stopped and crashed."""
    with a_server() as server:
        yield server


@pytest.fixture
async def backend(postgres_dsn: str) -> AsyncIterator[PostgresBackend]:
    backend = await opened(postgres_dsn)
    yield backend
    await backend.close()


async def sever_all(dsn: str) -> None:
    """End every connection to the database but the one that does it."""
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'clew'"
    )
    await connection.close()


async def soon(backend: PostgresBackend, grant: Grant, version: int, *, within_s: float = 5) -> None:
    """Write a version as soon as the database lets one."""
    deadline = time.monotonic() + within_s
    while True:
        try:
            await backend.threads.append(a_write(grant, version, messages=(a_message(version),)))
        except StorageUnavailable:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        else:
            return


async def versions(backend: PostgresBackend) -> list[int]:
    log = await backend.threads.read_log(KEY, UID, after_version=0, limit=10_000, max_bytes=1 << 30)
    return [entry.checkpoint.version for entry in log]


async def test_severed_connections_are_made_anew_unseen(backend: PostgresBackend, postgres_dsn: str) -> None:
    grant = await a_line(backend, 1)
    for version in range(2, 2 + CYCLES):
        await sever_all(postgres_dsn)
        await backend.threads.append(a_write(grant, version))
        assert await backend.threads.get_head(KEY) is not None
    assert await versions(backend) == list(range(1, 2 + CYCLES))


async def test_connections_severed_under_load_lose_nothing_and_write_nothing_twice(
    backend: PostgresBackend, postgres_dsn: str
) -> None:
    keys = [ThreadKey("acme", str(number)) for number in range(8)]
    grants = [await a_grant(backend, key) for key in keys]

    async def write_on(grant: Grant) -> None:
        for version in range(1, 31):
            await backend.threads.append(
                a_write(grant, version, messages=(a_message(version),), request=a_request(version, version=version))
            )

    async def sever() -> None:
        for _ in range(CYCLES):
            await asyncio.sleep(0.05)
            await sever_all(postgres_dsn)

    await asyncio.gather(sever(), *map(write_on, grants))
    for key in keys:
        log = await backend.threads.read_log(key, UID, after_version=0, limit=99, max_bytes=1 << 20)
        assert [(entry.checkpoint.version, len(entry.messages)) for entry in log] == [(at, 1) for at in range(1, 31)]


class Deaf:
    """Loses the database's answer to the next statement, after it was carried out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lost = 0
        monkeypatch.setattr("clew_storage.postgres.group_commit.append_all", self)

    async def __call__(self, connection: Any, *arguments: Any) -> Any:
        outcomes = await append_all(connection, *arguments)
        if self.lost == 0:
            self.lost += 1
            connection.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return outcomes


async def test_a_write_whose_answer_was_lost_is_found_and_not_written_again(
    backend: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = await a_line(backend, 1)
    deaf = Deaf(monkeypatch)
    write = a_write(grant, 2, messages=(a_message(2),), request=a_request(2))
    written = await backend.threads.append(write)
    assert (deaf.lost, written.thread.head_version) == (1, 2)
    head = await backend.threads.get_head(KEY)
    assert head is not None
    assert head.thread == written.thread
    assert len(await backend.messages.list_messages(KEY)) == 2


async def test_a_lost_answer_is_no_excuse_for_a_write_that_was_refused(
    backend: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = await a_line(backend, 3)
    Deaf(monkeypatch)
    outcomes = await asyncio.gather(
        backend.threads.append(a_write(grant, 2, messages=(a_message(2, body=b"other"),))),
        backend.threads.append(a_write(await a_grant(backend, ThreadKey("acme", "other")), 1)),
        return_exceptions=True,
    )
    assert isinstance(outcomes[0], StorageError)
    assert not isinstance(outcomes[1], BaseException)


async def test_a_write_that_no_standby_has_is_not_told_as_written(server: KeptServer) -> None:
    backend = await opened(server.dsn, command_timeout_s=0.5, patience_s=1.5)
    grant = await a_line(backend, 1)
    # There is none: every commit waits for ever, and stays in the database when the wait is broken off.
    await set_option(server.dsn, "synchronous_standby_names", "'nobody'")
    try:
        assert "before it said whether this was saved" in str(await refusal_of(backend, grant))
    finally:
        await set_option(server.dsn, "synchronous_standby_names", None)
        await backend.close()


async def refusal_of(backend: PostgresBackend, grant: Grant) -> StorageUnavailable:
    """Of the first write that is refused: the server's processes hear of a setting each in its own time."""
    for version in count(2):
        try:
            await backend.threads.append(a_write(grant, version))
        except StorageUnavailable as error:
            return error
    raise AssertionError


async def test_a_server_that_restarts_is_used_again_within_seconds_and_nothing_is_lost(server: KeptServer) -> None:
    backend = await opened(server.dsn)
    grant = await a_line(backend, 1)
    for cycle in range(CYCLES):
        await asyncio.to_thread(server.tell, "crash" if cycle % 2 else "restart")
        await soon(backend, grant, cycle + 2)
    assert await versions(backend) == list(range(1, CYCLES + 2))
    assert backend.leases.holds(grant)
    await backend.close()


async def test_while_the_server_is_down_every_call_says_so_and_afterwards_all_goes_on(server: KeptServer) -> None:
    backend = await opened(server.dsn, patience_s=0.2)
    grant = await a_line(backend, 1)
    await asyncio.to_thread(server.tell, "stop")
    for call in (
        lambda: backend.threads.append(a_write(grant, 2)),
        lambda: backend.threads.get_head(KEY),
        lambda: backend.threads.delete_thread(KEY, request=None, now_ms=0),
        lambda: backend.leases.acquire(ThreadKey("acme", "x"), purpose="run", wait_s=0),
        backend.check,
    ):
        with pytest.raises(StorageUnavailable, match=r"cannot be reached|ended the connection|went away|broke"):
            await call()
    await asyncio.to_thread(server.tell, "start")
    await soon(backend, grant, 2)
    await backend.check()
    await backend.close()


async def test_a_pooler_that_could_not_log_in_says_so_and_goes_on_with_the_database(server: KeptServer) -> None:
    with pooled(server.dsn) as dsn:
        backend = await opened(dsn, patience_s=0.2, command_timeout_s=1)
        grant = await a_line(backend, 1)
        await asyncio.to_thread(server.tell, "stop")
        deadline, said = time.monotonic() + 30, ""
        while "the pooler does not get through to the database" not in said:
            assert time.monotonic() < deadline, said
            with pytest.raises(StorageUnavailable) as told:
                await backend.check()
            said = str(told.value)
        await asyncio.to_thread(server.tell, "start")
        await soon(backend, grant, 2)
        await backend.close()


async def test_a_write_under_way_at_a_crash_is_there_when_it_was_acknowledged(server: KeptServer) -> None:
    backend = await opened(server.dsn)
    grant = await a_grant(backend)
    acknowledged = 0
    stop = asyncio.Event()

    async def write_on() -> None:
        nonlocal acknowledged
        while not stop.is_set():
            await soon(backend, grant, acknowledged + 1, within_s=20)
            acknowledged += 1

    writing_on = asyncio.create_task(write_on())
    for _ in range(CYCLES):
        await asyncio.sleep(0.1)
        await asyncio.to_thread(server.tell, "crash")
    stop.set()
    await writing_on
    assert await versions(backend) == list(range(1, acknowledged + 1))
    await backend.close()


async def test_a_lock_on_one_thread_ends_its_write_and_no_other(backend: PostgresBackend, postgres_dsn: str) -> None:
    grants = [await a_line(backend, 1, ThreadKey("acme", str(number))) for number in range(3)]
    schema = backend._opened().schema
    connection = await asyncpg.connect(postgres_dsn)
    # Nobody wants to wait for the five seconds that it takes otherwise.
    (function,) = await connection.fetch(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname = $1 AND p.proname = 'append_1'",
        schema.name,
    )
    await connection.execute(f"ALTER FUNCTION {function[0]} SET lock_timeout = '100ms'")
    async with connection.transaction():
        await connection.execute(schema.sql("SELECT 1 FROM clew.threads WHERE thread_id = '1' FOR UPDATE"))
        outcomes = await asyncio.gather(
            *(backend.threads.append(a_write(grant, 2)) for grant in grants), return_exceptions=True
        )
    await connection.close()
    assert [isinstance(outcome, StorageUnavailable) for outcome in outcomes] == [False, True, False]
    await backend.threads.append(a_write(grants[1], 2))


async def test_a_lock_is_told_in_words_that_are_true_of_every_call(postgres_dsn: str) -> None:
    backend = await opened(postgres_dsn, lock_timeout="50ms")
    connection, schema = await asyncpg.connect(postgres_dsn), backend._opened().schema
    tables = {
        "threads": ("get_head", "list_threads", "list_tenants", "export_thread", "stats"),
        "approvals": ("list_expired", "get_approval"),
        "cached_values": ("put_value", "list_keys", "forget_expired"),
        "requests": ("forget_requests",),
    }
    for table, calls in tables.items():
        async with connection.transaction():
            await connection.execute(schema.sql(f"LOCK TABLE clew.{table} IN ACCESS EXCLUSIVE MODE"))
            for call in calls:
                with pytest.raises(StorageUnavailable, match="a lock in time that this call needs; try again") as told:
                    await CALLS[call](backend)
                assert "thread" not in str(told.value)
    await connection.close()
    await backend.close()


async def test_a_value_that_no_column_holds_ends_its_write_and_no_other(backend: PostgresBackend) -> None:
    grants = [await a_grant(backend, ThreadKey("acme", str(number))) for number in range(3)]
    writes = [a_write(grant, 1) for grant in grants]
    bad = a_write(grants[1], 1, messages=(a_message(1, created_at_ms=1 << 70),))
    outcomes = await asyncio.gather(
        *(backend.threads.append(write) for write in (writes[0], bad, writes[2])), return_exceptions=True
    )
    assert [isinstance(outcome, StorageError) for outcome in outcomes] == [False, True, False]


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (asyncpg.DiskFullError("no space left on device"), StorageFull),
        (asyncpg.AdminShutdownError("terminating connection"), StorageUnavailable),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT"), StorageUnavailable),
        (asyncpg.TooManyConnectionsError("too many clients"), StorageUnavailable),
        (ConnectionRefusedError(111, "Connection refused"), StorageUnavailable),
        (asyncpg.LockNotAvailableError("canceling statement due to lock timeout"), StorageUnavailable),
        (TimeoutError(), StorageUnavailable),
    ],
)
def test_an_error_of_the_driver_becomes_the_ports_and_says_what_to_do(
    error: Exception, becomes: type[StorageError]
) -> None:
    translated = translate(error)
    assert type(translated) is becomes
    assert any(word in str(translated) for word in ("try again", "make room", "connect to", "raise"))


async def test_a_leftover_connection_string_with_a_password_is_not_shown() -> None:
    backend = PostgresBackend.of_url("postgresql://ada:secret@nowhere.invalid/db?schema=x")
    assert "secret" not in backend.url
