"""Several servers on one database, and what they see of each other."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

import pytest

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_thread,
    a_write,
    grow,
)
from clew_storage.conformance.lease_promises import Queue, cancelled, within
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import LeaseBusy, LeaseLost, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import Glance, Grant, InfoChange, StateChange

Pair = tuple[Backend, Backend]


async def stand(backend: Backend, name: str, *, first: bool = False, queue: Queue | None = None) -> asyncio.Task[Grant]:
    """Wait for the example's thread under a name, in a place that every server knows of."""
    before = (await backend.threads.glance([KEY]))[KEY].waiting
    task = await (queue or Queue(backend)).join(name, first=first)
    while (await backend.threads.glance([KEY]))[KEY].waiting == before and not task.done():  # noqa: ASYNC110 - no backend tells of it
        await asyncio.sleep(0)
    return task


class GlancePromises(Promises):
    """`Threads.glance`."""

    async def test_a_glance_tells_how_many_wait(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        tasks = [await stand(backend, str(number)) for number in range(3)]
        assert (await backend.threads.glance([KEY]))[KEY].waiting == 3
        await cancelled(tasks[1])
        await backend.leases.release(grant)
        await within(tasks[0])
        assert (await backend.threads.glance([KEY]))[KEY].waiting == 1
        await cancelled(tasks[2])

    async def test_a_glance_of_no_thread_is_empty(self, backend: Backend) -> None:
        await a_line(backend, 1)
        assert await backend.threads.glance([OTHER]) == {OTHER: Glance()}
        assert await backend.threads.glance([]) == {}

    async def test_a_glance_has_an_answer_for_every_key(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await backend.threads.change_info(OTHER, InfoChange(), create=a_thread(), request=None, now_ms=NOW)
        assert await backend.threads.glance([OTHER, KEY, KEY]) == {
            KEY: Glance(UID, 3, cancel_requested=False, holder=grant, epoch=grant.epoch),
            OTHER: Glance("uid-2", 0),
        }

    async def test_a_glance_shows_the_holder_of_a_thread_that_is_not_there_yet(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        assert await backend.threads.glance([KEY]) == {KEY: Glance(holder=grant)}
        await backend.leases.release(grant)
        assert await backend.threads.glance([KEY]) == {KEY: Glance()}

    async def test_a_glance_shows_that_the_run_is_to_be_cancelled_until_another_attempt_writes(
        self, backend: Backend
    ) -> None:
        grant = await a_line(backend, 1)
        assert await backend.threads.request_cancel(KEY, UID, 1, 1)
        assert (await backend.threads.glance([KEY]))[KEY].cancel_requested
        await backend.threads.append(a_write(grant, 2))
        assert (await backend.threads.glance([KEY]))[KEY].cancel_requested
        await backend.threads.append(a_write(grant, 3, checkpoint=a_checkpoint(3, attempt=2)))
        assert not (await backend.threads.glance([KEY]))[KEY].cancel_requested

    async def test_a_glance_of_a_deleted_thread_is_empty(self, backend: Backend) -> None:
        await a_line(backend, 2)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert await backend.threads.glance([KEY]) == {KEY: Glance()}


class ServerPromises(Promises):
    """What is true between two servers that share a database."""

    @pytest.fixture
    async def pair(self, make_backend: MakeBackend) -> AsyncIterator[Pair]:
        """Two backends on one database."""
        pair = make_backend(), make_backend()
        for backend in pair:
            await backend.open()
        yield pair
        for backend in pair:
            await backend.close()

    @belongs_to(Category.SHARED)
    async def test_what_one_server_holds_is_busy_for_the_other_and_can_be_seen_there(self, pair: Pair) -> None:
        here, there = pair
        grant = await a_line(here, 1)
        with pytest.raises(LeaseBusy, match="a run holds the thread"):
            await there.leases.acquire(KEY, purpose="run", wait_s=0)
        assert there.leases.holder(KEY) is None
        assert (await there.threads.glance([KEY]))[KEY] == Glance(UID, 1, holder=grant, epoch=grant.epoch)

    @belongs_to(Category.SHARED)
    async def test_a_grant_of_one_server_does_not_write_on_the_other_after_it_was_passed_on(self, pair: Pair) -> None:
        here, there = pair
        old = await a_line(here, 1)
        await here.leases.release(old)
        new = await a_grant(there)
        assert new.epoch > old.epoch
        with pytest.raises(LeaseLost):
            await here.threads.append(a_write(old, 2))
        await there.threads.append(a_write(new, 2))

    @belongs_to(Category.SHARED)
    async def test_waiters_of_both_servers_are_served_in_the_order_they_came(self, pair: Pair) -> None:
        grant = await a_grant(pair[0])
        queues = [Queue(backend) for backend in pair]
        served: list[str] = []
        for queue in queues:
            queue.served = served
        tasks = [
            await stand(pair[number % 2], str(number), first=number == 4, queue=queues[number % 2])
            for number in range(5)
        ]
        holder = pair[0]
        for number in (4, 0, 1, 2, 3):
            await holder.leases.release(grant)
            grant = await within(tasks[number])
            holder = pair[number % 2]
        assert served == ["4", "0", "1", "2", "3"]

    @belongs_to(Category.SHARED)
    async def test_a_waiter_that_leaves_one_server_is_passed_over_by_the_other(self, pair: Pair) -> None:
        here, there = pair
        grant = await a_grant(here)
        left, stayed = await stand(there, "left"), await stand(here, "stayed")
        await cancelled(left)
        await here.leases.release(grant)
        assert (await within(stayed)).purpose == "stayed"

    @belongs_to(Category.SHARED)
    async def test_a_delete_on_one_server_ends_grant_and_waits_on_the_other(self, pair: Pair) -> None:
        here, there = pair
        grant = await a_line(here, 1)
        waiting = await stand(there, "waiter")
        other = await stand(here, "other")
        assert await there.threads.delete_thread(KEY, request=None, now_ms=NOW)
        for task in (waiting, other):
            with pytest.raises(ThreadMissing):
                await within(task)
        with pytest.raises(LeaseLost):
            await here.threads.append(a_write(grant, 2))

    @belongs_to(Category.SHARED)
    async def test_of_two_servers_that_ask_at_once_one_is_granted(self, pair: Pair) -> None:
        for _ in range(20):
            outcomes = await asyncio.gather(*map(a_grant, pair), return_exceptions=True)
            assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Grant", "LeaseBusy"]
            for backend, outcome in zip(pair, outcomes, strict=True):
                if not isinstance(outcome, BaseException):
                    await backend.leases.release(outcome)

    @belongs_to(Category.SHARED)
    async def test_a_server_that_closes_frees_what_it_held(self, make_backend: MakeBackend, backend: Backend) -> None:
        other = make_backend()
        await other.open()
        await a_grant(other)
        waiting = await stand(backend, "waiter")
        await other.close()
        assert (await within(waiting)).purpose == "waiter"

    @belongs_to(Category.SHARED)
    async def test_a_server_goes_on_with_a_state_that_another_has_changed_since(self, pair: Pair) -> None:
        versions = iter(range(1, 300))
        grown_to: list[int] = []
        for turn in range(20):
            server = pair[turn % 2]
            grant = await a_grant(server)
            if turn:
                # As a send begins: with a message and without a change of the state.
                await server.threads.append(a_write(grant, next(versions)))
            for version in islice(versions, 7):
                await grow(server, grant, range(version, version + 1))
                grown_to.append(version)
            await server.leases.release(grant)
            assert await server.threads.get_state(KEY, version=None) == grown(*grown_to)

    @belongs_to(Category.SHARED)
    async def test_what_a_server_remembers_of_a_deleted_thread_is_not_taken_for_what_an_archive_brings_back(
        self, pair: Pair
    ) -> None:
        here, there = pair
        grant = await a_line(here, 5)
        parts = [part async for part in here.archive.export_thread(KEY)]
        await grow(here, grant, range(6, 10))
        await here.leases.release(grant)
        await there.threads.delete_thread(KEY, request=None, now_ms=NOW)
        await there.archive.import_thread(parts)
        grant = await a_grant(there)
        for version in range(6, 10):
            await there.threads.append(a_write(grant, version, state=StateChange(replaced={"other": b"%d" % version})))
        await there.leases.release(grant)
        grant = await a_grant(here)
        await grow(here, grant, range(10, 60))
        expected = {**grown(*range(1, 6), *range(10, 60)), "other": b"9"}
        assert await here.threads.get_state(KEY, version=None) == expected
        assert await there.threads.get_state(KEY, version=None) == expected

    @belongs_to(Category.SHARED)
    async def test_a_cancel_that_is_asked_for_on_one_server_is_seen_on_the_other(self, pair: Pair) -> None:
        here, there = pair
        grant = await a_line(here, 1)
        assert await there.threads.request_cancel(KEY, UID, 1, 1)
        assert (await here.threads.glance([KEY]))[KEY].cancel_requested
        assert (await here.threads.append(a_write(grant, 2))).cancel_requested
