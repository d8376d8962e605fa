"""Idle threads: what nobody uses goes, and whatever is in use stays as it is."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    a_checkpoint,
    a_grant,
    a_line,
    a_message,
    a_request,
    a_thread,
    a_write,
    an_approval,
    grow,
)
from clew_storage.errors import LeaseLost
from clew_storage.port import Backend
from clew_storage.records import (
    IdleFilter,
    InfoChange,
    Status,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
)


async def at_rest(backend: Backend, key: ThreadKey = KEY, status: Status = Status.COMPLETED, length: int = 2) -> None:
    """A thread that nobody holds, of so many checkpoints."""
    grant = await a_line(backend, length - 1, key)
    ended = a_checkpoint(length, status=status)
    await backend.threads.append(a_write(grant, length, checkpoint=ended, messages=(a_message(length),)))
    await backend.leases.release(grant)


async def idle(
    backend: Backend, where: IdleFilter | None = None, *, after: ThreadKey | None = None, limit: int = 100
) -> list[ThreadRecord]:
    """The idle threads of a filter."""
    return list(await backend.retention.list_idle(where or IdleFilter(), after=after, limit=limit))


async def names(backend: Backend, where: IdleFilter | None = None) -> list[str]:
    """Their ids."""
    return [record.key.thread_id for record in await idle(backend, where)]


class IdlePromises(Promises):
    """`Retention.list_idle`, `delete_idle` and `forget_leases`."""

    async def test_threads_that_nobody_holds_are_listed_by_name_and_in_parts(self, backend: Backend) -> None:
        keys = [ThreadKey(tenant, name) for tenant in ("acme", "umbrella") for name in ("A", "a", "b")]
        for key in reversed(keys):
            await at_rest(backend, key)
        assert [record.key for record in await idle(backend)] == keys
        first = await idle(backend, limit=4)
        assert [record.key for record in first] == keys[:4]
        assert [record.key for record in await idle(backend, after=first[-1].key, limit=4)] == keys[4:]
        head = await backend.threads.get_head(keys[0])
        assert head is not None
        assert first[0] == head.thread

    async def test_status_age_app_and_user_select(self, backend: Backend) -> None:
        await at_rest(backend, status=Status.COMPLETED)
        await at_rest(backend, OTHER, status=Status.FAILED, length=5)
        assert await names(backend, IdleFilter(statuses=(Status.FAILED,))) == [OTHER.thread_id]
        assert await names(backend, IdleFilter(statuses=(Status.FAILED, Status.COMPLETED))) == [
            KEY.thread_id,
            OTHER.thread_id,
        ]
        assert await names(backend, IdleFilter(before_ms=NOW + 5)) == [KEY.thread_id]
        assert await names(backend, IdleFilter(before_ms=NOW + 6)) == [KEY.thread_id, OTHER.thread_id]
        assert await names(backend, IdleFilter(longer_than=4)) == [OTHER.thread_id]
        assert await names(backend, IdleFilter(apps=("support", "x"), user_ids=("ada",))) == [
            KEY.thread_id,
            OTHER.thread_id,
        ]
        assert (
            await names(backend, IdleFilter(apps=("x",)))
            == await names(backend, IdleFilter(user_ids=("grace", "")))
            == []
        )

    async def test_a_change_of_its_info_makes_a_thread_younger(self, backend: Backend) -> None:
        await at_rest(backend)
        await backend.threads.change_info(KEY, InfoChange(name="n"), create=None, request=None, now_ms=NOW + 100)
        assert await names(backend, IdleFilter(before_ms=NOW + 100)) == []

    async def test_one_that_is_held_or_has_no_checkpoint_is_not_idle(self, backend: Backend) -> None:
        await backend.threads.change_info(OTHER, InfoChange(), create=a_thread(), request=None, now_ms=NOW)
        grant = await a_line(backend, 2)
        assert await names(backend) == []
        await backend.leases.release(grant)
        assert await names(backend) == [KEY.thread_id]

    async def test_one_with_a_pending_approval_counts_as_suspended_and_is_not_deleted(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        ended = a_checkpoint(2, status=Status.COMPLETED)
        await backend.threads.append(a_write(grant, 2, checkpoint=ended, approvals=(an_approval(2),)))
        await backend.leases.release(grant)
        assert await names(backend, IdleFilter(statuses=(Status.COMPLETED,))) == []
        waiting = await idle(backend, IdleFilter(statuses=(Status.SUSPENDED,)))
        assert list(await backend.retention.delete_idle(waiting, now_ms=NOW)) == []
        assert await backend.threads.get_head(KEY) is not None

    async def test_idle_threads_are_deleted_and_leave_what_a_delete_leaves(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request(), messages=(a_message(1),)))
        await backend.leases.release(grant)
        await at_rest(backend, OTHER)
        found = await idle(backend)
        assert list(await backend.retention.delete_idle(found, now_ms=NOW + 900)) == [KEY, OTHER]
        assert await idle(backend) == []
        for key in (KEY, OTHER):
            assert await backend.threads.get_head(key) is None
            assert list(await backend.messages.list_messages(key)) == []
        assert await backend.threads.find_request(KEY, a_request().request_hash) == a_request()
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 2))
        assert (await a_grant(backend)).epoch > grant.epoch

    async def test_one_that_was_written_to_since_it_was_judged_stays(self, backend: Backend) -> None:
        await at_rest(backend)
        found = await idle(backend)
        grant = await a_grant(backend)
        await grow(backend, grant, range(3, 4))
        await backend.leases.release(grant)
        assert list(await backend.retention.delete_idle(found, now_ms=NOW)) == []
        assert await backend.threads.get_state(KEY, version=None) == {"last": b"3", "all": b"[1,3]"}

    async def test_one_whose_info_was_changed_since_stays(self, backend: Backend) -> None:
        await at_rest(backend)
        found = await idle(backend)
        await backend.threads.change_info(KEY, InfoChange(name="n"), create=None, request=None, now_ms=NOW + 9)
        assert list(await backend.retention.delete_idle(found, now_ms=NOW)) == []

    async def test_one_that_is_held_since_stays_and_its_holder_writes(self, backend: Backend) -> None:
        await at_rest(backend)
        found = await idle(backend)
        grant = await a_grant(backend)
        assert list(await backend.retention.delete_idle(found, now_ms=NOW)) == []
        await grow(backend, grant, range(3, 4))

    async def test_one_that_was_made_anew_since_stays(self, backend: Backend) -> None:
        await at_rest(backend)
        found = await idle(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        grant = await a_grant(backend)
        for version in (1, 2):
            await backend.threads.append(a_write(grant, version, uid="another", info=ThreadInfo()))
        await backend.leases.release(grant)
        assert list(await backend.retention.delete_idle(found, now_ms=NOW)) == []
        assert list(await backend.retention.delete_idle(await idle(backend), now_ms=NOW)) == [KEY]

    async def test_of_two_sweeps_at_once_each_thread_is_deleted_by_one(self, backend: Backend) -> None:
        for number in range(12):
            await at_rest(backend, ThreadKey("acme", f"t{number:02}"))
        found = await idle(backend)
        gone = await asyncio.gather(
            *(backend.retention.delete_idle(part, now_ms=NOW) for part in (found, found[::-1], found[:5]))
        )
        left = [record.key for record in found if await backend.threads.get_head(record.key) is not None]
        assert sorted(key.thread_id for part in gone for key in part) == sorted(
            record.key.thread_id for record in found if record.key not in left
        )
        await backend.retention.delete_idle(await idle(backend), now_ms=NOW)
        assert await idle(backend) == []

    async def test_forgetting_leases_frees_nobody_and_epochs_go_on_growing(self, backend: Backend) -> None:
        held = await a_grant(backend)
        free = await a_grant(backend, OTHER)
        await backend.leases.release(free)
        went, after = 0, None
        while True:
            part, after = await backend.retention.forget_leases(after=after, limit=1)
            went += part
            if after is None:
                break
        assert went <= 1
        assert backend.leases.holds(held)
        await grow(backend, held, range(1, 3))
        again = await a_grant(backend, OTHER)
        assert again.epoch > free.epoch
