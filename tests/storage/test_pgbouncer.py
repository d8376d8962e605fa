"""Behind PgBouncer in transaction mode, with the same URL but for the port, everything is as on the database itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar

import asyncpg
import pytest
from msgspec.structs import replace

from clew_storage import LeaseLost, ThreadKey, open_storage
from clew_storage.conformance import BackendPromises, Category
from clew_storage.conformance.categories import MakeBackend
from clew_storage.conformance.examples import KEY, a_grant, a_line, a_request, a_write
from clew_storage.errors import StorageError, StorageRefused
from clew_storage.postgres import PostgresBackend
from clew_storage.postgres.thread_exports import pages_of
from clew_storage.records import RequestRecord
from clew_storage.thread_parts import Part
from tests.support.pgbouncer import POOL, pooled
from tests.support.postgres import in_schema

_PREPARED = "SELECT count(*) FROM pg_prepared_statements"
# Short, where a test waits for a lease to run out.
TERM_S = 1.5

MakeServer = Callable[..., Coroutine[Any, Any, PostgresBackend]]


class TestBehindPgBouncer(BackendPromises):
    opted_out: ClassVar = {Category.ONE_OWNER: "any number of servers share a database"}

    @pytest.fixture
    def make_backend(self, pgbouncer_dsn: str) -> MakeBackend:
        return partial(open_storage, in_schema(pgbouncer_dsn))


@asynccontextmanager
async def servers_on(dsn: str) -> AsyncIterator[MakeServer]:
    """Makes one more server on the same schema."""
    url, made = in_schema(dsn), list[PostgresBackend]()

    async def make(**options: object) -> PostgresBackend:
        more = "".join(f"&{name}={value}" for name, value in options.items())
        backend = PostgresBackend.of_url(url + more)
        await backend.open()
        made.append(backend)
        return backend

    try:
        yield make
    finally:
        for backend in made:
            await backend.close()


@pytest.fixture
async def make_server(pgbouncer_dsn: str) -> AsyncIterator[MakeServer]:
    """Makes one more server on the same schema, behind the pooler."""
    async with servers_on(pgbouncer_dsn) as make:
        yield make


async def prepared(backend: PostgresBackend) -> int:
    """How many statements the connections of the database know that serve this storage."""
    return int(await backend._opened().read(lambda each: each.fetchval(_PREPARED)))


async def test_a_pooler_is_found_out_and_no_statement_stays_prepared(postgres_dsn: str) -> None:
    # A pooler of its own, so that nobody else prepares on its connections.
    with pooled(postgres_dsn) as dsn:
        async with servers_on(dsn) as make:
            backend = await make()
            await a_line(backend, 3)
            assert await prepared(backend) == 0


async def test_an_export_prepares_no_statement_that_the_next_one_would_meet(make_server: MakeServer) -> None:
    backend = await make_server()
    grant = await a_grant(backend)
    for version in range(1, 4):
        await backend.threads.append(replace(a_write(grant, version), request=a_request(version)))
    session, seen = backend._opened(), list[Part]()
    async with session.standing_still() as connection:
        async for page in pages_of(connection, session.schema, KEY):
            seen += page
            assert await connection.fetchval(_PREPARED) == 0
    assert any(isinstance(part, RequestRecord) for part in seen)


async def test_without_a_pooler_statements_stay_prepared(postgres_dsn: str) -> None:
    backend = PostgresBackend.of_url(in_schema(postgres_dsn))
    await backend.open()
    await a_line(backend, 3)
    assert await prepared(backend) > 0
    await backend.close()


async def test_statements_that_stay_prepared_would_fail_behind_a_pooler(postgres_dsn: str) -> None:
    # A pooler of its own, for what stays prepared is met by whoever gets the connection next.
    with pooled(postgres_dsn) as dsn:
        async with servers_on(dsn) as make:
            with pytest.raises((asyncpg.PostgresError, StorageError), match="prepared statement"):
                await work_together(make, pgbouncer=0)


async def work_on(backend: PostgresBackend, number: int) -> None:
    """Write a line and read it, again and again."""
    grant = await a_grant(backend, ThreadKey("acme", str(number)))
    for version in range(1, 30):
        await backend.threads.append(a_write(grant, version))
        await backend.threads.get_head(grant.key)


async def work_together(make_server: MakeServer, **options: object) -> None:
    """More servers than the pooler has connections work at the same time."""
    servers = [await make_server(**options) for _ in range(2 * POOL)]
    await asyncio.gather(*(work_on(server, number) for number, server in enumerate(servers)))


async def test_many_more_connections_than_the_pooler_has_are_served(make_server: MakeServer) -> None:
    await work_together(make_server)


async def test_leases_are_kept_and_a_dead_holder_is_taken_over(make_server: MakeServer) -> None:
    here, there = [await make_server(lease_s=TERM_S) for _ in range(2)]
    grant = await a_line(here, 1)
    waiting = asyncio.create_task(there.leases.acquire(KEY, purpose="run", wait_s=30))
    await asyncio.sleep(1.5 * TERM_S)
    assert here.leases.holds(grant)
    assert not waiting.done()
    await here._opened().keeper.close()
    taken = await waiting
    with pytest.raises(LeaseLost):
        await here.threads.append(a_write(grant, 2))
    await there.threads.append(a_write(taken, 2))


async def test_waiting_is_first_come_first_served(make_server: MakeServer) -> None:
    servers = [await make_server() for _ in range(3)]
    holder, order = await a_grant(servers[0]), list[int]()

    async def wait(number: int) -> None:
        backend = servers[number % 3]
        grant = await backend.leases.acquire(KEY, purpose="run", wait_s=30)
        order.append(number)
        await backend.leases.release(grant)

    waiting = []
    for number in range(6):
        waiting.append(asyncio.create_task(wait(number)))
        async with asyncio.timeout(10):
            while (await servers[0].threads.glance([KEY]))[KEY].waiting != number + 1:  # noqa: ASYNC110 - no server tells of it
                await asyncio.sleep(0)
    await servers[0].leases.release(holder)
    await asyncio.gather(*waiting)
    assert order == list(range(6))


async def test_a_direct_way_beside_the_pooler_tells_of_a_turn_at_once(
    make_server: MakeServer, postgres_dsn: str
) -> None:
    here = await make_server()
    there = await make_server(listen_dsn=postgres_dsn, poll_s=30)
    hints = there._opened().hints
    assert hints is not None
    await asyncio.wait_for(hints.listens.wait(), 10)
    grant = await a_grant(here)
    waiting = asyncio.create_task(there.leases.acquire(KEY, purpose="run", wait_s=30))
    async with asyncio.timeout(10):
        while not (await here.threads.glance([KEY]))[KEY].waiting:  # noqa: ASYNC110 - no server tells of it
            await asyncio.sleep(0)
    released = time.monotonic()
    await here.leases.release(grant)
    await waiting
    assert time.monotonic() - released < 5


async def test_servers_that_start_together_migrate_once(pgbouncer_dsn: str) -> None:
    url = in_schema(pgbouncer_dsn)
    backends = [open_storage(url) for _ in range(5)]
    await asyncio.gather(*(backend.open() for backend in backends))
    await a_line(backends[0], 1)
    await asyncio.gather(*(backend.close() for backend in backends))


async def test_a_cancelled_query_is_broken_off_in_the_database(make_server: MakeServer, postgres_dsn: str) -> None:
    backend = await make_server()
    direct = await asyncpg.connect(postgres_dsn)
    slow = f"SELECT pg_sleep(600) /* {backend._opened().schema.name} */"
    reading = asyncio.create_task(backend._opened().read(lambda each: each.execute(slow)))

    async def running() -> bool:
        count = "SELECT count(*) FROM pg_stat_activity WHERE query = $1 AND state = 'active'"
        return bool(await direct.fetchval(count, slow))

    async with asyncio.timeout(10):
        while not await running():
            pass
        reading.cancel()
        while await running():
            pass
    await direct.close()
    await a_line(backend, 1)


@pytest.mark.parametrize("way", ["postgres_dsn", "pgbouncer_dsn"])
async def test_a_setting_that_neither_storage_nor_database_knows_is_refused_by_name(
    way: str, request: pytest.FixtureRequest
) -> None:
    backend = PostgresBackend.of_url(in_schema(request.getfixturevalue(way), leases=15))
    with pytest.raises(StorageRefused, match=r"a setting in the URL .*leases"):
        await backend.open()
