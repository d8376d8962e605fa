"""A database of several hosts: the one that takes writes is found, whatever has become of the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count

import asyncpg
import pytest

from clew_storage import Grant, StorageUnavailable
from clew_storage.conformance.examples import KEY, a_line, a_write
from clew_storage.postgres import PostgresBackend
from tests.support.postgres import KeptServer, a_server, in_schema

CONNECT_S = 2.0


@pytest.fixture(scope="module")
def primary() -> Iterator[KeptServer]:
    """A server of this file's own, which has a standby."""
    with a_server() as server:
        yield server


@pytest.fixture(scope="module")
def standby(primary: KeptServer) -> Iterator[KeptServer]:
    """It takes no writes."""
    with a_server(f"standby_of={primary.port}") as server:
        yield server


def at(*ports: str | int) -> str:
    """The DSN of all of them."""
    return "postgresql://clew@" + ",".join(f"127.0.0.1:{port}" for port in ports) + "/postgres"


async def opened(dsn: str) -> PostgresBackend:
    backend = PostgresBackend.of_url(in_schema(dsn, connect_timeout_s=CONNECT_S))
    await backend.open()
    return backend


@asynccontextmanager
async def silent_host() -> AsyncIterator[int]:
    """The port of a host that takes connections and says nothing, as one whose machine hangs."""
    held: list[asyncio.StreamWriter] = []

    async def nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    server = await asyncio.start_server(nothing, "127.0.0.1", 0)
    yield int(server.sockets[0].getsockname()[1])
    for writer in held:
        writer.close()
    server.close()


async def test_a_standby_is_passed_over(primary: KeptServer, standby: KeptServer) -> None:
    backend = await opened(at(standby.port, primary.port))
    await a_line(backend, 2)
    await backend.close()


async def test_standbys_alone_are_refused_with_what_to_do(standby: KeptServer) -> None:
    with pytest.raises(StorageUnavailable, match="none of the hosts in the URL takes writes"):
        await opened(at(standby.port, standby.port))


async def test_a_host_that_is_down_is_passed_over(primary: KeptServer) -> None:
    backend = await opened(at(1, primary.port))
    await a_line(backend, 2)
    await backend.close()


async def test_a_host_that_is_silent_costs_its_share_of_the_time_and_that_once(primary: KeptServer) -> None:
    async with silent_host() as silent:
        backend = await opened(at(silent, primary.port))
        began = time.monotonic()
        async with asyncio.TaskGroup() as many:
            for _ in range(6):
                many.create_task(backend.threads.get_head(KEY))
        # Each of them would have had to wait for the silent one first.
        assert time.monotonic() - began < CONNECT_S / 2
        await backend.close()


async def test_a_connection_to_a_database_that_takes_no_writes_any_more_is_let_go(primary: KeptServer) -> None:
    backend = await opened(at(primary.port, 1))
    grant = await a_line(backend, 1)
    direct = await asyncpg.connect(primary.dsn)
    before = await pids(direct)
    # As an old primary is that has become a standby under its connections.
    await direct.execute("ALTER SYSTEM SET default_transaction_read_only = on")
    await direct.execute("SELECT pg_reload_conf()")
    version, refusal = await written_until_refused(backend, grant)
    assert "takes no writes" in str(refusal)
    await direct.execute("SET default_transaction_read_only = off")
    await direct.execute("ALTER SYSTEM RESET default_transaction_read_only")
    await direct.execute("SELECT pg_reload_conf()")
    await written(backend, grant, version)
    assert not before & await pids(direct)
    await direct.close()
    await backend.close()


async def written_until_refused(backend: PostgresBackend, grant: Grant) -> tuple[int, StorageUnavailable]:
    """The first version that was refused: the server's processes hear of a setting each in its own time."""
    for version in count(2):
        try:
            await backend.threads.append(a_write(grant, version))
        except StorageUnavailable as error:
            return version, error
    raise AssertionError


async def written(backend: PostgresBackend, grant: Grant, version: int) -> None:
    """Write a version as soon as the server takes it."""
    while True:
        with suppress(StorageUnavailable):
            await backend.threads.append(a_write(grant, version))
            return


async def pids(connection: asyncpg.Connection[asyncpg.Record]) -> set[int]:
    """The database's processes that serve storages."""
    rows = await connection.fetch("SELECT pid FROM pg_stat_activity WHERE application_name = 'clew'")
    return {pid for (pid,) in rows}
