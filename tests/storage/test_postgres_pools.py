"""The connections of a backend: calls that are cancelled leave none behind, and a pool that is used up holds up no lease and no write."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from clew_storage import StorageRefused, StorageUnavailable, ThreadKey, VersionConflict
from clew_storage.conformance.examples import KEY, a_line, a_write
from clew_storage.postgres import PostgresBackend, PostgresSettings
from clew_storage.postgres.connections import StandingConnection
from tests.storage.postgres_backends import opened
from tests.support.postgres import in_schema


async def test_cancelled_calls_leave_no_connection_and_no_transaction_behind(postgres_dsn: str) -> None:
    backend = await opened(postgres_dsn, pool_size=4)
    grant = await a_line(backend, 5)
    for number in range(60):
        calls = [
            backend.threads.get_head(KEY),
            backend.threads.get_state(KEY, version=None),
            backend.leases.acquire(ThreadKey("acme", str(number)), purpose="run", wait_s=1),
            backend.threads.append(a_write(grant, 99)),
        ]
        tasks = [asyncio.ensure_future(call) for call in calls]
        for _ in range(number % 7):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.gather(*(backend.threads.get_head(KEY) for _ in range(10)))
    connection = await asyncpg.connect(postgres_dsn)
    idle = await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")
    schema = backend._opened().schema
    held = await connection.fetchval(schema.sql("SELECT count(*) FROM clew.leases WHERE server IS NOT NULL"))
    await connection.close()
    assert (idle, held) == (0, 1)
    await backend.close()


async def test_a_pool_that_is_used_up_says_so_within_its_time(postgres_dsn: str) -> None:
    backend = await opened(postgres_dsn, pool_size=3, pool_timeout_s=1)
    await a_line(backend, 1)
    await backend._opened().keeper.renew()
    connections = backend._opened().connections
    # One writes and one keeps the leases.
    taken = [await connections.take()]
    with pytest.raises(StorageUnavailable, match="all 3 connections to the database are in use"):
        await backend.threads.get_head(KEY)
    for connection in taken:
        await connections.give_back(connection)
    assert await backend.threads.get_head(KEY) is not None
    await backend.close()


async def test_a_pool_that_is_used_up_holds_neither_renewals_nor_writes_up(postgres_dsn: str) -> None:
    backend = await opened(postgres_dsn, pool_size=3)
    grant = await a_line(backend, 1)
    await backend._opened().keeper.renew()
    connections = backend._opened().connections
    taken = await connections.take()
    await backend._opened().keeper.renew()
    await backend.threads.append(a_write(grant, 2))
    assert backend.leases.holds(grant)
    await connections.give_back(taken)
    await backend.close()


async def test_a_keeper_without_a_connection_of_its_own_would_not_renew(
    postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StandingConnection, "run", lambda self, work: self._connections.run(work))
    backend = await opened(postgres_dsn, pool_size=3, pool_timeout_s=1)
    await a_line(backend, 1)
    connections = backend._opened().connections
    taken = [await connections.take() for _ in range(3)]
    with pytest.raises(StorageUnavailable, match="raise pool_size"):
        await backend._opened().keeper.renew()
    for connection in taken:
        await connections.give_back(connection)
    await backend.close()


async def test_a_pool_of_ones_own_is_used_and_left_open(postgres_dsn: str) -> None:
    url = in_schema(postgres_dsn)
    async with asyncpg.create_pool(postgres_dsn, min_size=1, max_size=6) as pool:
        backend = PostgresBackend(PostgresSettings(schema=url.rpartition("=")[2]), pool=pool)
        await backend.open()
        await backend.leases.release(await a_line(backend, 3))
        await backend.close()
        assert await pool.fetchval("SELECT 1") == 1
        assert pool.get_idle_size() == pool.get_size()


async def test_a_pool_of_ones_own_that_is_too_small_is_refused(postgres_dsn: str) -> None:
    async with asyncpg.create_pool(postgres_dsn, min_size=0, max_size=2) as pool:
        with pytest.raises(StorageRefused, match="has 2 connections at most; it takes 3"):
            PostgresBackend(PostgresSettings(), pool=pool)


async def test_without_prepared_statements_everything_works_as_well(postgres_dsn: str) -> None:
    backend = await opened(postgres_dsn, pgbouncer=1)
    grant = await a_line(backend, 3)
    with pytest.raises(VersionConflict):
        await backend.threads.append(a_write(grant, 9))
    assert await backend.threads.get_state(KEY, version=None) == {"last": b"3", "all": b"[1,2,3]"}
    connection = await backend._opened().connections.take()
    assert await connection.fetchval("SELECT count(*) FROM pg_prepared_statements") == 0
    await backend._opened().connections.give_back(connection)
    await backend.close()
