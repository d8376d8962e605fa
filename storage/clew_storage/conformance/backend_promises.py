"""A backend from its opening to its end."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from clew_storage.conformance.categories import Category, MakeBackend, Promises, belongs_to
from clew_storage.conformance.examples import KEY, NOW, UID, a_line, a_thread, a_write, grow
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import LeaseLost, StorageInUse, StorageUnavailable
from clew_storage.port import Backend
from clew_storage.records import (
    CachedValue,
    CacheKey,
    CallName,
    Grant,
    IdleFilter,
    InfoChange,
    OfferedCall,
    ThreadFilter,
    Trim,
    WorkerRecord,
)
from clew_storage.thread_parts import ThreadPart

VALUE = CacheKey("acme", "n", "k")
CALL = CallName(KEY, "k1")
WORKER = WorkerRecord("acme", "w1", ("charge",), b"{}")
CALLS: dict[str, Callable[[Backend], Awaitable[object]]] = {
    "acquire": lambda backend: backend.leases.acquire(KEY, purpose="run", wait_s=0),
    "append": lambda backend: backend.threads.append(a_write(Grant(KEY, 1, "run"))),
    "get_head": lambda backend: backend.threads.get_head(KEY),
    "glance": lambda backend: backend.threads.glance([KEY]),
    "request_cancel": lambda backend: backend.threads.request_cancel(KEY, UID, 1, 1),
    "get_checkpoint": lambda backend: backend.threads.get_checkpoint(KEY, 1),
    "list_checkpoints": lambda backend: backend.threads.list_checkpoints(KEY, before_version=None, limit=1),
    "read_log": lambda backend: backend.threads.read_log(KEY, UID, after_version=0, limit=1, max_bytes=1),
    "list_starts": lambda backend: backend.threads.list_starts(KEY, UID, after_version=0, limit=1),
    "get_state": lambda backend: backend.threads.get_state(KEY, version=None),
    "list_threads": lambda backend: backend.threads.list_threads(
        "acme", ThreadFilter(), by_update=False, after=None, limit=1
    ),
    "change_info": lambda backend: backend.threads.change_info(
        KEY, InfoChange(), create=a_thread(KEY), request=None, now_ms=NOW
    ),
    "copy_thread": lambda backend: backend.threads.copy_thread(KEY, UID, a_thread(), a_write(Grant(KEY, 1, "run"))),
    "delete_thread": lambda backend: backend.threads.delete_thread(KEY, request=None, now_ms=NOW),
    "find_request": lambda backend: backend.threads.find_request(KEY, b"\x00" * 16),
    "forget_requests": lambda backend: backend.threads.forget_requests(before_ms=NOW),
    "list_idle": lambda backend: backend.retention.list_idle(IdleFilter(), after=None, limit=1),
    "delete_idle": lambda backend: backend.retention.delete_idle([a_thread()], now_ms=NOW),
    "trim_thread": lambda backend: backend.retention.trim_thread(Trim(KEY, UID, 2, 1)),
    "forget_leases": lambda backend: backend.retention.forget_leases(after=None, limit=1),
    "list_messages": lambda backend: backend.messages.list_messages(KEY),
    "get_message": lambda backend: backend.messages.get_message(KEY, "m1.0"),
    "get_approval": lambda backend: backend.approvals.get_approval("acme", "a"),
    "list_approvals": lambda backend: backend.approvals.list_approvals("acme"),
    "list_expired": lambda backend: backend.approvals.list_expired(now_ms=NOW, limit=1),
    "put_value": lambda backend: backend.cache.put_value(VALUE, CachedValue(b"1")),
    "get_value": lambda backend: backend.cache.get_value(VALUE, now_ms=NOW),
    "delete_value": lambda backend: backend.cache.delete_value(VALUE, now_ms=NOW),
    "list_keys": lambda backend: backend.cache.list_keys("acme", "n", prefix="", after=None, limit=1, now_ms=NOW),
    "forget_expired": lambda backend: backend.cache.forget_expired(now_ms=NOW, limit=1),
    "register": lambda backend: backend.exchange.register(WORKER, lease_s=1, now_ms=NOW),
    "drain": lambda backend: backend.exchange.drain("acme", "w1"),
    "reopen": lambda backend: backend.exchange.reopen("acme", "w1", but=()),
    "report": lambda backend: backend.exchange.report("w1", CALL, b"{}"),
    "dismiss": lambda backend: backend.exchange.dismiss("acme", "w1"),
    "list_workers": lambda backend: backend.exchange.list_workers("acme", tools=(), after=None, limit=1, now_ms=NOW),
    "offer": lambda backend: backend.exchange.offer(OfferedCall(CALL, "charge", b"{}", False, NOW)),
    "claim": lambda backend: backend.exchange.claim(WORKER, tools=("charge",), limit=1, lease_s=1, now_ms=NOW),
    "hold": lambda backend: backend.exchange.hold("acme", "w1", [CALL], lease_s=1, now_ms=NOW),
    "give_back": lambda backend: backend.exchange.give_back("acme", "w1", CALL, not_before_ms=0),
    "finish": lambda backend: backend.exchange.finish("w1", CALL, b"1"),
    "sight": lambda backend: backend.exchange.sight([CALL], now_ms=NOW),
    "take": lambda backend: backend.exchange.take([CALL]),
    "withdraw": lambda backend: backend.exchange.withdraw([CALL]),
    "forget": lambda backend: backend.exchange.forget(before_ms=NOW),
    "list_tenants": lambda backend: backend.archive.list_tenants(after=None, limit=1),
    "export_thread": lambda backend: anext(backend.archive.export_thread(KEY)),
    "import_thread": lambda backend: backend.archive.import_thread([ThreadPart(a_thread(KEY), (), None)]),
    "stats": lambda backend: backend.sizes.stats(largest=1),
    "check": lambda backend: backend.check(),
}


class OpeningPromises(Promises):
    """`Backend`."""

    async def test_an_open_backend_passes_its_check(self, backend: Backend) -> None:
        await backend.check()
        await a_line(backend, 1)
        await backend.check()

    async def test_a_check_writes_nothing_that_can_be_seen(self, backend: Backend) -> None:
        await a_line(backend, 1)
        before = await backend.threads.get_head(KEY)
        await backend.check()
        assert await backend.threads.get_head(KEY) == before

    @pytest.mark.parametrize("name", CALLS)
    async def test_before_opening_and_after_closing_every_call_is_unavailable(
        self, make_backend: MakeBackend, name: str
    ) -> None:
        backend = make_backend()
        with pytest.raises(StorageUnavailable):
            await CALLS[name](backend)
        await backend.open()
        await backend.close()
        with pytest.raises(StorageUnavailable):
            await CALLS[name](backend)

    async def test_closing_twice_or_before_opening_does_no_harm(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        await backend.close()
        await backend.open()
        await backend.close()
        await backend.close()

    async def test_opening_says_the_format_that_was_found_and_the_one_that_there_is_now(
        self, make_backend: MakeBackend
    ) -> None:
        backend = make_backend()
        first = await backend.open()
        await backend.close()
        again = await backend.open()
        await backend.close()
        assert first.before in {0, first.now}
        # What is in memory begins anew.
        assert again.before == (first.now if backend.place else 0)
        assert again.now == first.now

    async def test_closing_finishes_what_was_begun(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        await backend.open()
        grant = await a_line(backend, 1)
        writing = asyncio.create_task(backend.threads.append(a_write(grant, 2)))
        await asyncio.sleep(0)
        await backend.close()
        assert (await asyncio.wait_for(writing, timeout=30)).thread.head_version == 2

    def test_reopened_in_another_loop_it_keeps_what_was_committed_and_frees_what_was_held(
        self, make_backend: MakeBackend
    ) -> None:
        backend = make_backend()

        async def begin() -> Grant:
            await backend.open()
            return await a_line(backend, 3)

        async def go_on(version: int) -> Grant:
            await backend.reopen()
            await backend.check()
            # Free at once, whoever held it in the loop before.
            grant = await backend.leases.acquire(KEY, purpose="run", wait_s=0)
            await grow(backend, grant, range(version, version + 1))
            assert await backend.threads.get_state(KEY, version=None) == grown(*range(1, version + 1))
            return grant

        grants = [asyncio.run(begin())]
        grants += [asyncio.run(go_on(version)) for version in (4, 5)]
        assert [grant.epoch for grant in grants] == sorted({grant.epoch for grant in grants})

        async def end() -> None:
            await backend.reopen()
            with pytest.raises(LeaseLost):
                await backend.threads.append(a_write(grants[-1], 6))
            await backend.close()

        asyncio.run(end())

    @belongs_to(Category.DURABLE)
    async def test_a_database_can_be_opened_again_and_again(self, make_backend: MakeBackend) -> None:
        for length in range(1, 4):
            backend = make_backend()
            await backend.open()
            grant = await backend.leases.acquire(KEY, purpose="run", wait_s=0)
            await backend.threads.append(a_write(grant, length))
            await backend.close()

    @belongs_to(Category.ONE_OWNER)
    async def test_a_second_opener_is_refused_until_the_first_has_closed(self, make_backend: MakeBackend) -> None:
        first, second = make_backend(), make_backend()
        await first.open()
        with pytest.raises(StorageInUse):
            await second.open()
        await a_line(first, 1)
        await first.close()
        await second.open()
        assert await second.threads.get_head(KEY) is not None
        await second.close()
