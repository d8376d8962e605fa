"""Leases: one holder a thread, first come first served, nothing left behind."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import KEY, OTHER, a_grant, a_line, a_write
from clew_storage.errors import LeaseBusy, LeaseLost, StorageUnavailable, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import Grant, ThreadKey


class Queue:
    """Callers that wait for one thread, each begun only when the one before it stands in the queue."""

    def __init__(self, backend: Backend, key: ThreadKey = KEY) -> None:
        self._leases = backend.leases
        self._key = key
        self.served: list[str] = []

    async def join(self, name: str, *, first: bool = False, wait_s: float = 30) -> asyncio.Task[Grant]:
        """Wait in the queue under a name."""
        before = self._leases.queued(self._key)
        task = asyncio.create_task(self._wait(name, first=first, wait_s=wait_s))
        while self._leases.queued(self._key) == before and not task.done():  # noqa: ASYNC110 - no backend tells of it
            await asyncio.sleep(0)
        return task

    async def _wait(self, name: str, *, first: bool, wait_s: float) -> Grant:
        grant = await self._leases.acquire(self._key, purpose=name, wait_s=wait_s, first=first)
        self.served.append(name)
        return grant


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def within(waiting: Coroutine[Any, Any, Any] | asyncio.Task[Any]) -> Any:
    """The outcome of something that must not hang."""
    return await asyncio.wait_for(waiting, timeout=30)


class LeasePromises(Promises):
    """`Leases`."""

    async def test_an_owner_sees_every_lease(self, backend: Backend) -> None:
        assert backend.leases.sees_all()

    async def test_a_free_thread_is_granted_at_once_whether_or_not_it_exists(self, backend: Backend) -> None:
        grant = await backend.leases.acquire(KEY, purpose="run", wait_s=0)
        assert (grant.key, grant.purpose) == (KEY, "run")
        assert backend.leases.holder(KEY) == grant
        assert backend.leases.holds(grant)
        assert backend.leases.holds_firmly(grant)

    async def test_nobody_holds_a_thread_that_was_never_granted(self, backend: Backend) -> None:
        assert backend.leases.holder(KEY) is None
        assert backend.leases.queued(KEY) == 0

    async def test_a_held_thread_is_busy_for_whoever_does_not_wait(self, backend: Backend) -> None:
        await a_grant(backend)
        with pytest.raises(LeaseBusy):
            await backend.leases.acquire(KEY, purpose="run", wait_s=0)
        assert backend.leases.queued(KEY) == 0

    async def test_threads_are_held_independently(self, backend: Backend) -> None:
        assert (await a_grant(backend, KEY)).key != (await a_grant(backend, OTHER)).key

    async def test_the_same_id_of_two_tenants_is_two_threads(self, backend: Backend) -> None:
        await a_grant(backend, ThreadKey("acme", "t"))
        await a_grant(backend, ThreadKey("umbrella", "t"))

    async def test_a_wait_ends_busy_when_its_time_is_over_and_leaves_no_waiter(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        with pytest.raises(LeaseBusy):
            await backend.leases.acquire(KEY, purpose="run", wait_s=0.01)
        assert backend.leases.queued(KEY) == 0
        await backend.leases.release(grant)
        assert backend.leases.holder(KEY) is None

    async def test_waiters_are_served_in_the_order_they_came(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        tasks = [await queue.join(str(number)) for number in range(5)]
        assert backend.leases.queued(KEY) == 5
        for task in tasks:
            await backend.leases.release(grant)
            grant = await within(task)
        assert queue.served == ["0", "1", "2", "3", "4"]

    async def test_those_with_first_go_before_the_others_and_keep_their_own_order(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        tasks = {
            "waiter 1": await queue.join("waiter 1"),
            "interrupter 1": await queue.join("interrupter 1", first=True),
            "waiter 2": await queue.join("waiter 2"),
            "interrupter 2": await queue.join("interrupter 2", first=True),
        }
        order = ["interrupter 1", "interrupter 2", "waiter 1", "waiter 2"]
        for name in order:
            await backend.leases.release(grant)
            grant = await within(tasks[name])
        assert queue.served == order

    async def test_every_grant_has_a_larger_epoch_than_the_one_before(self, backend: Backend) -> None:
        epochs = []
        for _ in range(5):
            grant = await a_grant(backend)
            epochs.append(grant.epoch)
            await backend.leases.release(grant)
        assert epochs == sorted(set(epochs))

    async def test_a_grant_has_a_larger_epoch_than_what_was_written(self, backend: Backend) -> None:
        grant = await a_line(backend)
        await backend.leases.release(grant)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert (await a_grant(backend)).epoch > head.thread.epoch

    @belongs_to(Category.DURABLE)
    async def test_a_grant_after_reopening_has_a_larger_epoch_than_all_before(self, make_backend: MakeBackend) -> None:
        epochs = []
        for _ in range(3):
            backend = make_backend()
            await backend.open()
            for _ in range(2):
                grant = await a_grant(backend)
                epochs.append(grant.epoch)
                await backend.leases.release(grant)
            await backend.close()
        assert epochs == sorted(set(epochs))

    async def test_releasing_a_grant_that_is_not_current_does_nothing(self, backend: Backend) -> None:
        old = await a_grant(backend)
        await backend.leases.release(old)
        new = await a_grant(backend)
        await backend.leases.release(old)
        assert not backend.leases.holds(old)
        assert not backend.leases.holds_firmly(old)
        assert backend.leases.holds(new)

    async def test_a_cancelled_waiter_leaves_nothing_behind(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        left, stayed = await queue.join("left"), await queue.join("stayed")
        await cancelled(left)
        assert backend.leases.queued(KEY) == 1
        await backend.leases.release(grant)
        await backend.leases.release(await within(stayed))
        assert backend.leases.holder(KEY) is None

    async def test_a_waiter_cancelled_in_the_moment_of_its_grant_passes_it_on(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        left, stayed = await queue.join("left"), await queue.join("stayed")
        left.cancel()
        # Granted before the cancelled task has run again.
        await backend.leases.release(grant)
        assert (await within(stayed)).purpose == "stayed"
        assert queue.served == ["stayed"]

    async def test_a_waiter_granted_and_then_cancelled_before_it_runs_passes_it_on(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        left, stayed = await queue.join("left"), await queue.join("stayed")
        await backend.leases.release(grant)
        left.cancel()
        (outcome,) = await asyncio.gather(left, return_exceptions=True)
        if isinstance(outcome, Grant):
            # It ran before it could be cancelled, so the grant is its caller's to give back.
            await backend.leases.release(outcome)
        granted = await within(stayed)
        await backend.leases.release(granted)
        assert backend.leases.holder(KEY) is None

    async def test_a_delete_revokes_the_grant_and_wakes_whoever_waits(self, backend: Backend) -> None:
        grant = await a_line(backend)
        queue = Queue(backend)
        waiting = [await queue.join("waiter"), await queue.join("interrupter", first=True)]
        assert await backend.threads.delete_thread(KEY, request=None, now_ms=0)
        for task in waiting:
            with pytest.raises(ThreadMissing):
                await within(task)
        assert not backend.leases.holds(grant)
        assert backend.leases.queued(KEY) == 0

    async def test_after_a_delete_the_next_call_is_granted_as_ever(self, backend: Backend) -> None:
        old = await a_line(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=0)
        new = await a_grant(backend)
        assert new.epoch > old.epoch
        await backend.leases.release(old)
        assert backend.leases.holds(new)

    async def test_a_waiter_cancelled_in_the_moment_of_a_delete_leaves_nothing_behind(self, backend: Backend) -> None:
        await a_line(backend)
        left = await Queue(backend).join("left")
        deleting = asyncio.create_task(backend.threads.delete_thread(KEY, request=None, now_ms=0))
        left.cancel()
        assert await deleting
        await asyncio.gather(left, return_exceptions=True)
        assert left.cancelled()
        await a_grant(backend)

    async def test_a_released_grant_does_not_write(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.leases.release(grant)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 2))

    async def test_closing_wakes_whoever_waits(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        await backend.open()
        await a_grant(backend)
        waiting = await Queue(backend).join("waiter")
        await backend.close()
        with pytest.raises(StorageUnavailable):
            await within(waiting)

    async def test_a_storm_of_waiters_of_whom_some_leave_ends_with_nobody_holding(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        queue = Queue(backend)
        tasks = [await queue.join(str(number)) for number in range(60)]
        leaving = tasks[::3]
        for task in leaving:
            task.cancel()
        await backend.leases.release(grant)
        for task in tasks:
            if task not in leaving:
                await backend.leases.release(await within(task))
        await asyncio.gather(*leaving, return_exceptions=True)
        assert queue.served == [str(number) for number in range(60) if number % 3]
        assert backend.leases.holder(KEY) is None
        assert backend.leases.queued(KEY) == 0
