"""Deletes: final, at once, with nothing left but the tombstone."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_grant,
    a_line,
    a_request,
    a_thread,
    a_write,
    an_approval,
    grow,
)
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import LeaseLost, RequestRecorded, ThreadMissing, VersionConflict
from clew_storage.port import Backend
from clew_storage.records import InfoChange, RequestRecord, ThreadInfo, ThreadKey


async def delete(backend: Backend, request: RequestRecord | None = None) -> bool:
    """Delete the example's thread."""
    return await backend.threads.delete_thread(KEY, request=request, now_ms=NOW + 900)


class DeletePromises(Promises):
    """`Threads.delete_thread`."""

    async def test_it_tells_whether_the_thread_existed(self, backend: Backend) -> None:
        assert not await delete(backend)
        await a_line(backend, 1)
        assert await delete(backend)
        assert not await delete(backend)

    async def test_a_thread_elsewhere_than_expected_stays(self, backend: Backend) -> None:
        await a_line(backend, 2)
        with pytest.raises(VersionConflict):
            await backend.threads.delete_thread(KEY, request=None, now_ms=NOW, expected_version=1)
        assert await backend.threads.get_head(KEY) is not None
        assert await backend.threads.delete_thread(KEY, request=None, now_ms=NOW, expected_version=2)
        assert not await backend.threads.delete_thread(KEY, request=None, now_ms=NOW, expected_version=2)

    async def test_nothing_of_the_thread_can_be_read_afterwards(self, backend: Backend) -> None:
        grant = await a_line(backend, 20)
        await backend.threads.append(a_write(grant, 21, approvals=(an_approval(21, expires_at_ms=1),)))
        await delete(backend)
        assert await backend.threads.get_head(KEY) is None
        assert await backend.threads.get_checkpoint(KEY, 3) is None
        assert list(await backend.threads.list_checkpoints(KEY, before_version=None, limit=9)) == []
        assert list(await backend.messages.list_messages(KEY)) == []
        assert await backend.messages.get_message(KEY, "m3.0") is None
        assert await backend.threads.get_state(KEY, version=None) is None
        assert await backend.approvals.get_approval("acme", an_approval(21).id) is None
        assert list(await backend.approvals.list_approvals("acme")) == []
        assert list(await backend.approvals.list_expired(now_ms=NOW, limit=9)) == []
        with pytest.raises(ThreadMissing):
            await backend.threads.read_log(KEY, UID, after_version=0, limit=9, max_bytes=99)
        with pytest.raises(ThreadMissing):
            await backend.threads.change_info(KEY, InfoChange(), create=None, request=None, now_ms=NOW)
        assert not await backend.threads.request_cancel(KEY, UID, 1, 1)

    async def test_other_threads_are_left_as_they_are(self, backend: Backend) -> None:
        await a_line(backend, 20)
        await a_line(backend, 20, OTHER)
        await delete(backend)
        assert len(await backend.messages.list_messages(OTHER)) == 20
        assert await backend.threads.get_state(OTHER, version=None) == grown(*range(1, 21))

    async def test_the_holder_writes_nothing_more(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        await delete(backend)
        for version in (1, 3):
            with pytest.raises(LeaseLost):
                await backend.threads.append(a_write(grant, version))
        assert await backend.threads.get_head(KEY) is None

    async def test_a_write_that_races_the_delete_never_makes_the_thread_again(self, backend: Backend) -> None:
        for number in range(10):
            # Info alone: the first checkpoint would otherwise be free to make the thread.
            made = a_thread(KEY, uid=f"uid-{number}", info=ThreadInfo())
            await backend.threads.change_info(KEY, InfoChange(), create=made, request=None, now_ms=NOW)
            grant = await a_grant(backend)
            write = a_write(grant, uid=f"uid-{number}")
            tasks = [delete(backend), backend.threads.append(write)]
            outcomes = await asyncio.gather(*tasks[:: 1 if number % 2 else -1], return_exceptions=True)
            assert True in outcomes
            assert await backend.threads.get_head(KEY) is None
            await backend.leases.release(grant)

    async def test_a_grant_that_races_the_delete_never_makes_the_thread_again(self, backend: Backend) -> None:
        async def write_first(key: ThreadKey) -> str:
            grant = await a_grant(backend, key)
            head = await backend.threads.get_head(key)
            uid = head.thread.uid if head else "new"
            await backend.threads.append(a_write(grant, uid=uid))
            return uid

        for number in range(10):
            # Nobody has held it yet.
            key = ThreadKey("acme", f"t-{number}")
            made = a_thread(key, uid="old", info=ThreadInfo())
            await backend.threads.change_info(key, InfoChange(), create=made, request=None, now_ms=NOW)
            calls = [backend.threads.delete_thread(key, request=None, now_ms=NOW), write_first(key)]
            outcomes = await asyncio.gather(*calls[:: 1 if number % 2 else -1], return_exceptions=True)
            assert True in outcomes
            head = await backend.threads.get_head(key)
            assert head is None or head.thread.uid == "new"

    async def test_a_thread_made_later_has_no_trace_of_the_old_and_a_larger_epoch(self, backend: Backend) -> None:
        old = await a_line(backend, 20)
        assert await backend.threads.request_cancel(KEY, UID, 1, 1)
        await delete(backend)
        new = await a_grant(backend)
        assert new.epoch > old.epoch
        await grow(backend, new, range(1, 3), uid="uid-9")
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert (head.thread.uid, head.line, head.pending, head.cancel_requested) == ("uid-9", ((1, 2),), (), False)
        assert head.thread.info == ThreadInfo(app="support", user_id="ada")
        assert [message.id for message in await backend.messages.list_messages(KEY)] == ["m1.0", "m2.0"]
        assert await backend.threads.get_state(KEY, version=None) == grown(1, 2)
        log = await backend.threads.read_log(KEY, "uid-9", after_version=0, limit=99, max_bytes=1 << 20)
        assert len(log) == 2
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(old, 3))

    async def test_a_thread_made_by_its_info_goes_on_from_the_old_epoch(self, backend: Backend) -> None:
        old = await a_line(backend, 1)
        await delete(backend)
        made = await backend.threads.change_info(KEY, InfoChange(), create=a_thread(KEY), request=None, now_ms=NOW)
        assert made.epoch > old.epoch
        assert made.info == replace(a_thread().info, revision=1)

    async def test_requests_of_the_deleted_thread_are_still_found_with_their_uid(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        sent, gone = a_request(2), a_request(3, verb="delete", version=0)
        await backend.threads.append(a_write(grant, 2, request=sent))
        assert await delete(backend, gone)
        for request in (sent, gone):
            assert await backend.threads.find_request(KEY, request.request_hash) == request
        new = await a_grant(backend)
        with pytest.raises(RequestRecorded):
            await backend.threads.append(a_write(new, uid="uid-9", request=sent))
        await grow(backend, new, range(1, 2), uid="uid-9")
        assert await backend.threads.find_request(KEY, sent.request_hash) == sent

    async def test_a_recorded_request_is_refused_and_deletes_nothing(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        with pytest.raises(RequestRecorded):
            await delete(backend, a_request())
        assert await backend.threads.get_head(KEY) is not None
        assert backend.leases.holds(grant)

    async def test_where_there_was_no_thread_nothing_is_revoked_or_recorded(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        assert not await delete(backend, a_request())
        assert backend.leases.holds(grant)
        assert await backend.threads.find_request(KEY, a_request().request_hash) is None
        await backend.threads.append(a_write(grant))

    async def test_deletes_at_once_end_in_one(self, backend: Backend) -> None:
        await a_line(backend, 3)
        assert sorted(await asyncio.gather(*(delete(backend) for _ in range(6)))) == [False] * 5 + [True]
