"""Leases over time: renewed, lost, taken over; waits that outlive nobody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace

import asyncpg
import pytest

from clew_storage import InfoChange, LeaseBusy, LeaseLost, StorageError, ThreadKey
from clew_storage.conformance.examples import KEY, NOW, a_grant, a_line, a_thread, a_write
from clew_storage.conformance.lease_promises import Queue, within
from clew_storage.conformance.server_promises import stand
from clew_storage.postgres import PostgresBackend, appends
from clew_storage.postgres.deletions import delete_thread
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.settings import settings_of_url
from tests.support.postgres import in_schema

TERM_S = 0.6
MakeServer = Callable[[], Awaitable[PostgresBackend]]


@pytest.fixture
def url(postgres_dsn: str) -> str:
    return in_schema(postgres_dsn, lease_s=TERM_S, poll_s=0.05)


@pytest.fixture
async def make_server(url: str) -> AsyncIterator[MakeServer]:
    async with AsyncExitStack() as stack:

        async def make() -> PostgresBackend:
            backend = PostgresBackend.of_url(url)
            await backend.open()
            stack.push_async_callback(backend.close)
            return backend

        yield make


async def stun(backend: PostgresBackend) -> None:
    """The server renews nothing and asks for nothing any more, as if it were stopped."""
    await backend._opened().keeper.close()


async def tickets(backend: PostgresBackend) -> int:
    """The rows of those who wait, on all servers."""
    session = backend._opened()
    count = await session.read(lambda each: each.fetchval(session.schema.sql("SELECT count(*) FROM clew.tickets")))
    return int(count)


async def waits(backend: PostgresBackend, count: int) -> None:
    """Wait until so many wait for the example's thread, on all servers."""
    async with asyncio.timeout(30):
        while (await backend.threads.glance([KEY]))[KEY].waiting != count:  # noqa: ASYNC110 - the database tells nobody
            await asyncio.sleep(0)


async def test_a_lease_is_held_for_longer_than_its_term(make_server: MakeServer) -> None:
    backend = await make_server()
    grant = await a_grant(backend)
    await asyncio.sleep(2 * TERM_S)
    assert backend.leases.holds(grant)
    await backend.threads.append(a_write(grant, 1))


async def test_a_lease_that_a_server_with_a_shorter_term_passed_on_is_held_on_to(postgres_dsn: str) -> None:
    schema = in_schema(postgres_dsn, lease_s=20 * TERM_S, poll_s=0.05)
    longer = PostgresBackend.of_url(schema)
    shorter = PostgresBackend.of_url(schema.replace(f"lease_s={20 * TERM_S}", f"lease_s={TERM_S}"))
    async with AsyncExitStack() as stack:
        for backend in (longer, shorter):
            await backend.open()
            stack.push_async_callback(backend.close)
        first = await a_grant(shorter)
        queue = Queue(longer)
        waiting = await queue.join("second")
        await shorter.leases.release(first)
        grant = await within(waiting)
        async with asyncio.timeout(30):
            while not longer.leases.holds_firmly(grant):
                assert longer.leases.holds(grant)
                await asyncio.sleep(0.01)
        await asyncio.sleep(2 * TERM_S)
        assert longer.leases.holds(grant)


async def test_the_lease_of_a_server_that_is_gone_is_taken_over_after_its_term(make_server: MakeServer) -> None:
    gone, other = await make_server(), await make_server()
    old = await a_line(gone, 1)
    await stun(gone)
    begun = time.monotonic()
    new = await other.leases.acquire(KEY, purpose="run", wait_s=30)
    assert time.monotonic() - begun <= TERM_S + 2
    assert new.epoch > old.epoch
    assert not gone.leases.holds(old)
    with pytest.raises(LeaseLost):
        await gone.threads.append(a_write(old, 2))
    await other.threads.append(a_write(new, 2))


async def test_a_lease_that_ran_out_does_not_write_although_nobody_else_took_it(make_server: MakeServer) -> None:
    backend = await make_server()
    grant = await a_line(backend, 1)
    await stun(backend)
    session = backend._opened()
    await session.read(
        lambda each: each.execute(session.schema.sql("UPDATE clew.leases SET expires_at = clock_timestamp()"))
    )
    assert backend.leases.holds(grant)
    with pytest.raises(LeaseLost):
        await backend.threads.append(a_write(grant, 2))


async def test_a_holder_that_hears_nothing_begins_nothing_new_after_half_the_term_and_stops_after_all_of_it(
    make_server: MakeServer,
) -> None:
    backend = await make_server()
    grant = await a_grant(backend)
    await stun(backend)
    backend.leases._held[KEY] = (grant, time.monotonic() + TERM_S * 0.4)
    assert backend.leases.holds(grant)
    assert not backend.leases.holds_firmly(grant)
    backend.leases._held[KEY] = (grant, time.monotonic())
    assert not backend.leases.holds(grant)
    assert backend.leases.holder(KEY) is None


async def test_a_renewal_that_finds_the_lease_gone_tells_its_holder(make_server: MakeServer) -> None:
    backend = await make_server()
    grant = await a_grant(backend)
    session = backend._opened()
    await session.read(lambda each: each.execute(session.schema.sql("UPDATE clew.leases SET epoch = epoch + 1")))
    await session.keeper.renew()
    assert not backend.leases.holds(grant)


async def test_a_waiter_whose_server_is_gone_is_passed_over(make_server: MakeServer) -> None:
    holder, gone, other = [await make_server() for _ in range(3)]
    grant = await a_grant(holder)
    lost = await stand(gone, "lost")
    stayed = await stand(other, "stayed")
    await stun(gone)
    await asyncio.sleep(1.5 * TERM_S)
    await holder.leases.release(grant)
    assert (await within(stayed)).purpose == "stayed"
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)


async def test_a_waiter_that_is_granted_when_its_server_is_gone_holds_nobody_up_for_longer_than_a_term(
    make_server: MakeServer,
) -> None:
    holder, gone, other = [await make_server() for _ in range(3)]
    grant = await a_grant(holder)
    lost = await stand(gone, "lost")
    stayed = await stand(other, "stayed")
    await stun(gone)
    await holder.leases.release(grant)
    begun = time.monotonic()
    assert (await within(stayed)).purpose == "stayed"
    assert time.monotonic() - begun <= TERM_S + 2
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)


async def test_a_wait_is_longer_than_a_term_and_keeps_its_place(make_server: MakeServer) -> None:
    holder, other = await make_server(), await make_server()
    grant = await a_grant(holder)
    first = await stand(other, "first")
    await asyncio.sleep(2 * TERM_S)
    second = await stand(holder, "second")
    await holder.leases.release(grant)
    await other.leases.release(await within(first))
    assert (await within(second)).purpose == "second"


async def test_a_thread_that_a_stranger_has_locked_keeps_nobody_from_the_other_threads_of_a_dead_server(
    make_server: MakeServer, postgres_dsn: str
) -> None:
    gone, other = await make_server(), await make_server()
    locked, free = ThreadKey("acme", "locked"), ThreadKey("acme", "free")
    for key in (locked, free):
        await gone.leases.acquire(key, purpose="run", wait_s=0)
    waiting = {key: asyncio.create_task(other.leases.acquire(key, purpose="run", wait_s=60)) for key in (locked, free)}
    stranger = await asyncpg.connect(postgres_dsn)
    schema = other._opened().schema
    async with stranger.transaction():
        await stranger.execute(schema.sql("SELECT FROM clew.leases WHERE thread_id = 'locked' FOR UPDATE"))
        await stun(gone)
        await other.leases.release(await within(waiting[free]))
        assert not waiting[locked].done()
    await other.leases.release(await within(waiting[locked]))
    await stranger.close()


async def test_a_thread_that_nobody_has_held_is_not_granted_while_it_is_deleted(
    make_server: MakeServer, postgres_dsn: str
) -> None:
    backend = await make_server()
    await backend.threads.change_info(KEY, InfoChange(), create=a_thread(KEY), request=None, now_ms=NOW)
    other = await asyncpg.connect(postgres_dsn)
    async with other.transaction():
        assert await delete_thread(
            other, backend._opened().schema, KEY, request=None, now_ms=NOW, expected_version=None
        )
        granted = asyncio.create_task(backend.leases.acquire(KEY, purpose="run", wait_s=0))
        async with asyncio.timeout(30):
            while not granted.done() and not await other.fetchval("SELECT true FROM pg_locks WHERE NOT granted"):
                pass
        assert not granted.done(), "or it reads a thread that is about to go"
    await granted
    assert await backend.threads.get_head(KEY) is None
    await other.close()


async def test_a_waiter_whose_grant_went_before_he_was_told_of_it_waits_on(make_server: MakeServer) -> None:
    here, there = await make_server(), await make_server()
    await a_line(here, 1)
    grant = here.leases.holder(KEY)
    assert grant is not None
    async with there._opened().keeper._one_at_a_time:
        # Meanwhile the other server hears of nothing.
        waiting = asyncio.create_task(there.leases.acquire(KEY, purpose="run", wait_s=30))
        await waits(here, 1)
        await here.leases.release(grant)
        await here.threads.delete_thread(KEY, request=None, now_ms=NOW)
        next_one = await here.leases.acquire(KEY, purpose="run", wait_s=0)
    await waits(here, 1)
    await here.leases.release(next_one)
    await there.leases.release(await within(waiting))
    assert await tickets(here) == 0


async def test_waiters_of_three_servers_of_whom_some_leave_are_served_in_order_and_leave_no_ticket(
    make_server: MakeServer,
) -> None:
    servers = [await make_server() for _ in range(3)]
    grant, holder = await a_grant(servers[0]), servers[0]
    served: list[str] = []
    queues = [Queue(server) for server in servers]
    for queue in queues:
        queue.served = served
    tasks = [await stand(servers[number % 3], str(number), queue=queues[number % 3]) for number in range(30)]
    leaving = tasks[::3]
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    for number, task in enumerate(tasks):
        if task not in leaving:
            await holder.leases.release(grant)
            grant, holder = await within(task), servers[number % 3]
    await holder.leases.release(grant)
    assert served == [str(number) for number in range(30) if number % 3]
    assert await tickets(holder) == 0
    assert (await holder.threads.glance([KEY]))[KEY].holder is None


async def test_a_release_that_the_database_did_not_hear_is_told_again(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = await make_server()
    grant = await a_grant(backend)

    async def away(_: object) -> None:
        raise StorageError

    monkeypatch.setattr(backend.leases, "_tell", away)
    await backend.leases.release(grant)
    monkeypatch.undo()
    with pytest.raises(LeaseBusy):
        await backend.leases.acquire(KEY, purpose="run", wait_s=0)
    await backend._opened().keeper.release_late()
    await a_grant(backend)


async def test_an_answer_that_was_lost_is_given_again_to_the_same_call(make_server: MakeServer) -> None:
    backend = await make_server()
    rows = backend._opened().keeper._rows
    connections = backend._opened().connections
    for wait in (False, True):
        asked = [
            await connections.run(lambda each, wait=wait: rows.ask(each, KEY, -5 - wait, "run", wait=wait, first=False))  # type: ignore[misc]
            for _ in range(2)
        ]
        assert asked[0] == asked[1]
    assert await tickets(backend) == 1


async def test_a_server_that_listens_hears_of_its_turn_without_asking(postgres_dsn: str) -> None:
    url = in_schema(postgres_dsn)
    holder = PostgresBackend.of_url(url)
    # It would ask again after a minute.
    listening = PostgresBackend(replace(settings_of_url(url), poll_s=60, listen_dsn=postgres_dsn))
    for backend in (holder, listening):
        await backend.open()
    hints = listening._opened().hints
    assert hints is not None
    await asyncio.wait_for(hints.listens.wait(), timeout=10)
    grant = await a_grant(holder)
    waiting = await stand(listening, "waiting")
    await holder.leases.release(grant)
    assert (await within(waiting)).purpose == "waiting"
    for backend in (holder, listening):
        await backend.close()


async def test_many_threads_are_renewed_in_one_statement(make_server: MakeServer) -> None:
    backend = await make_server()
    grants = [await a_grant(backend, ThreadKey("acme", str(number))) for number in range(50)]
    await asyncio.sleep(1.5 * TERM_S)
    assert all(backend.leases.holds(grant) for grant in grants)


async def test_without_the_fence_a_stale_holder_would_write(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "APPEND", appends.APPEND.replace("append_1(true,", "append_1(false,"))
    gone, other = await make_server(), await make_server()
    old = await a_line(gone, 1)
    await stun(gone)
    await other.leases.acquire(KEY, purpose="run", wait_s=30)
    await gone.threads.append(a_write(old, 2))


async def test_rows_of_leases_may_go_and_epochs_still_grow(make_server: MakeServer, postgres_dsn: str) -> None:
    backend = await make_server()
    grant = await a_grant(backend)
    await backend.leases.release(grant)
    connection = await asyncpg.connect(postgres_dsn)
    schema: Schema = backend._opened().schema
    await connection.execute(schema.sql("DELETE FROM clew.leases"))
    await connection.close()
    assert (await a_grant(backend)).epoch > grant.epoch


async def test_an_epoch_that_was_granted_twice_is_its_holders_alone(make_server: MakeServer, postgres_dsn: str) -> None:
    """As after a crash of the database that took back the grant, and with it the number, but not the first server's belief in it."""
    first = await make_server()
    believed = await a_line(first, 1)
    connection = await asyncpg.connect(postgres_dsn)
    schema: Schema = first._opened().schema
    await connection.execute(schema.sql("UPDATE clew.leases SET server = 'another'"))
    await connection.close()
    with pytest.raises(LeaseLost):
        await first.threads.append(a_write(believed, 2))
