"""A session of somebody else locks rows of leases for as long as it likes: what that costs is those leases alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import pytest

from clew_storage import LeaseLost, ThreadKey
from clew_storage.conformance.examples import a_line, a_write
from clew_storage.conformance.lease_promises import within
from clew_storage.conformance.server_promises import stand
from clew_storage.errors import StorageError
from clew_storage.postgres import PostgresBackend
from clew_storage.records import Grant
from tests.support.postgres import in_schema

TERM_S = 1.0
LOCKED = ThreadKey("acme", "locked")


class Place:
    """Servers on one schema, and a stranger in it."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._url = in_schema(dsn, lease_s=TERM_S, poll_s=0.05)
        self.stack = AsyncExitStack()

    async def server(self) -> PostgresBackend:
        """One more server."""
        backend = PostgresBackend.of_url(self._url)
        await backend.open()
        self.stack.push_async_callback(backend.close)
        self._schema = backend._opened().schema
        return backend

    @asynccontextmanager
    async def locked(self, *threads: str, table: str = "leases") -> AsyncIterator[None]:
        """The stranger holds the rows of these threads."""
        stranger = await asyncpg.connect(self._dsn)
        try:
            async with stranger.transaction():
                query = f"SELECT FROM clew.{table} WHERE thread_id = ANY ($1) FOR UPDATE"
                await stranger.execute("SET LOCAL statement_timeout = '30s'")
                assert (await stranger.execute(self._schema.sql(query), threads)) == f"SELECT {len(threads)}"
                yield
        finally:
            await stranger.close()


@pytest.fixture
async def place(postgres_dsn: str) -> AsyncIterator[Place]:
    place = Place(postgres_dsn)
    async with place.stack:
        yield place


async def held(backend: PostgresBackend, *threads: str) -> dict[str, Grant]:
    """Threads with a version each, and their leases."""
    return {thread: await a_line(backend, 1, ThreadKey("acme", thread)) for thread in threads}


async def test_the_other_leases_of_a_server_are_renewed_beside_one_that_is_locked(place: Place) -> None:
    backend = await place.server()
    grants = await held(backend, "a", "b", "c")
    async with place.locked("b"):
        await asyncio.sleep(2 * TERM_S)
        for thread in ("a", "c"):
            await backend.threads.append(a_write(grants[thread], 2))
        assert not backend.leases.holds(grants["b"])
    with pytest.raises(LeaseLost):
        await backend.threads.append(a_write(grants["b"], 2))


async def test_a_lock_that_ends_within_the_term_costs_nobody_his_lease(place: Place) -> None:
    backend = await place.server()
    grants = await held(backend, "a", "b")
    for _ in range(4):
        async with place.locked("a", "b"):
            await asyncio.sleep(TERM_S / 2)
        await asyncio.sleep(TERM_S / 4)
    for grant in grants.values():
        await backend.threads.append(a_write(grant, 2))


async def test_threads_that_are_busy_keep_their_leases_beside_many_that_are_locked(place: Place) -> None:
    backend = await place.server()
    strange = [f"locked-{number}" for number in range(6)]
    grants = await held(backend, *strange, "busy", "busier", "idle")
    over = asyncio.Event()

    async def write_on(thread: str) -> int:
        version = 1
        while not over.is_set():
            version += 1
            await backend.threads.append(a_write(grants[thread], version))
        return version

    writing = [asyncio.create_task(write_on(thread)) for thread in ("busy", "busier")]
    async with place.locked(*strange):
        await asyncio.sleep(3 * TERM_S)
    over.set()
    assert all(version > 10 for version in await asyncio.gather(*writing))
    await backend.threads.append(a_write(grants["idle"], 2))


@pytest.mark.parametrize("table", ["leases", "tickets"])
async def test_who_waits_for_another_thread_keeps_his_place(place: Place, table: str) -> None:
    holder, other = await place.server(), await place.server()
    await held(holder, "locked")
    grant = await a_line(holder, 1)
    strange = asyncio.create_task(other.leases.acquire(LOCKED, purpose="run", wait_s=60))
    first = await stand(other, "first")
    while not (await holder.threads.glance([LOCKED]))[LOCKED].waiting:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)
    async with place.locked("locked", table=table):
        await asyncio.sleep(2 * TERM_S)
        second = await stand(holder, "second")
        await holder.leases.release(grant)
        served = await within(first)
        assert served.purpose == "first"
        await other.leases.release(served)
        await holder.leases.release(await within(second))
    # Whose holder's lease was locked is served in the end, too.
    if (kept := holder.leases.holder(LOCKED)) is not None:
        await holder.leases.release(kept)
    await other.leases.release(await within(strange))


async def test_a_release_that_waits_for_a_lock_holds_no_renewal_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = await place.server()
    grants = await held(backend, "locked", "other")

    async def away(_: object) -> None:
        raise StorageError

    monkeypatch.setattr(backend.leases, "_tell", away)
    await backend.leases.release(grants["locked"])
    monkeypatch.undo()
    async with place.locked("locked"):
        await asyncio.sleep(3 * TERM_S)
        await backend.threads.append(a_write(grants["other"], 2))
    await backend.leases.release(await within(backend.leases.acquire(LOCKED, purpose="run", wait_s=30)))
