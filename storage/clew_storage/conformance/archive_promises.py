"""Threads as a whole: what goes out, comes in and is counted."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_message,
    a_request,
    a_thread,
    a_write,
    an_approval,
    fork,
    grow,
)
from clew_storage.conformance.sights import sights
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import DataCorrupt, LeaseLost, RequestRecorded, ThreadExists, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import (
    Amount,
    ApprovalDecision,
    ApprovalRecord,
    ApprovalState,
    CachedValue,
    CacheKey,
    CheckpointRecord,
    Grant,
    InfoChange,
    Kind,
    MessageRecord,
    RequestRecord,
    StateChange,
    Status,
    ThreadKey,
    Trim,
)
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart


async def exported(backend: Backend, key: ThreadKey = KEY) -> list[Part]:
    """The parts of a thread."""
    async with aclosing(backend.archive.export_thread(key)) as parts:
        return [part async for part in parts]


async def moved(backend: Backend, key: ThreadKey = KEY) -> None:
    """Export a thread, delete it, and import it again."""
    parts = await exported(backend, key)
    await backend.threads.delete_thread(key, request=None, now_ms=NOW)
    await backend.archive.import_thread(parts)


async def a_rich_thread(backend: Backend) -> Grant:
    """A thread with an abandoned line, edited and erased messages, approvals in every state, and requests."""
    grant = await a_line(backend, 9)
    asked = tuple(an_approval(10, number, expires_at_ms=NOW + number) for number in range(3))
    await backend.threads.append(a_write(grant, 10, approvals=asked, request=a_request(1, version=10)))
    decided = ApprovalDecision(asked[1].id, ApprovalState.APPROVED, b'{"by":"ada"}')
    edited = a_message(11, 4, id="m4.0", body=b"edited")
    await backend.threads.append(a_write(grant, 11, decisions=(decided,), messages=(edited,), erased=("m6.0",)))
    await fork(backend, grant, 12, 5, void_approvals=True, state=StateChange(removed=("last",)))
    state = StateChange(replaced={"odd": b'{"big":9007199254740993,"real":1.0,"nul":"\\u0000"}', "raw": b"\xff\x00"})
    messages = (a_message(13, 20), a_message(13, 18, id="own", role="critic"))
    await backend.threads.append(a_write(grant, 13, state=state, messages=messages, approvals=(an_approval(13),)))
    await backend.threads.change_info(
        KEY, InfoChange(name="n\x00ame", metadata=b'{"a":1.0}'), create=None, request=a_request(2), now_ms=NOW + 99
    )
    return grant


class ArchivePromises(Promises):
    """`Archive`."""

    async def test_tenants_with_threads_are_listed_in_order(self, backend: Backend) -> None:
        for tenant in ("b", "", "a\U0001f600", "a\ufffd", "gone"):
            key = ThreadKey(tenant, "t")
            await backend.threads.change_info(key, InfoChange(), create=a_thread(key), request=None, now_ms=NOW)
        await backend.threads.delete_thread(ThreadKey("gone", "t"), request=None, now_ms=NOW)
        assert list(await backend.archive.list_tenants(after=None, limit=9)) == ["", "a\ufffd", "a\U0001f600", "b"]
        assert list(await backend.archive.list_tenants(after="", limit=2)) == ["a\ufffd", "a\U0001f600"]
        assert list(await backend.archive.list_tenants(after="b", limit=9)) == []

    async def test_a_thread_that_is_not_there_is_missing(self, backend: Backend) -> None:
        with pytest.raises(ThreadMissing):
            await exported(backend)

    async def test_parts_come_in_their_order(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        parts = await exported(backend)
        kinds = [type(part) for part in parts]
        assert kinds == [ThreadPart] + [CheckpointPart] * 13 + [ApprovalRecord] * 4 + [RequestRecord] * 2
        versions = [part.checkpoint.version for part in parts if isinstance(part, CheckpointPart)]
        assert versions == list(range(1, 14))
        assert [part.id for part in parts if isinstance(part, ApprovalRecord)] == [
            *(an_approval(10, number).id for number in range(3)),
            an_approval(13).id,
        ]

    async def test_what_goes_out_has_no_epoch_of_its_database(self, backend: Backend) -> None:
        await a_line(backend, 1)
        head = (await exported(backend))[0]
        assert isinstance(head, ThreadPart)
        assert head.record.epoch == 0

    async def test_what_is_imported_has_a_larger_epoch_than_all_that_the_id_had(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        parts = await exported(backend)
        epochs = [grant.epoch]
        for _ in range(3):
            await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
            await backend.threads.forget_requests(before_ms=NOW + 1000)
            await backend.archive.import_thread(parts)
            head = await backend.threads.get_head(KEY)
            assert head is not None
            assert (await backend.threads.glance([KEY]))[KEY].epoch == head.thread.epoch
            epochs.append(head.thread.epoch)
        assert epochs == sorted(set(epochs))
        assert (await a_grant(backend)).epoch > epochs[-1]

    async def test_an_imported_thread_is_equal_by_every_read(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        before, parts = await sights(backend, KEY), await exported(backend)
        await moved(backend)
        assert await sights(backend, KEY) == before
        assert await exported(backend) == parts

    async def test_a_thread_without_a_checkpoint_is_moved_too(self, backend: Backend) -> None:
        await backend.threads.change_info(KEY, InfoChange(), create=a_thread(KEY), request=a_request(), now_ms=NOW)
        before = await sights(backend, KEY)
        await moved(backend)
        assert await sights(backend, KEY) == before
        grant = await a_grant(backend)
        await grow(backend, grant, range(1, 3), uid="uid-2")

    async def test_a_run_that_began_elsewhere_keeps_its_count(self, backend: Backend) -> None:
        await backend.threads.change_info(KEY, InfoChange(), create=a_thread(KEY, uid=UID), request=None, now_ms=NOW)
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, 7, expected_version=0, checkpoint=a_checkpoint(7)))
        before = await sights(backend, KEY)
        await moved(backend)
        assert await sights(backend, KEY) == before

    async def test_a_trimmed_thread_is_moved_with_the_messages_of_what_is_gone(self, backend: Backend) -> None:
        await backend.leases.release(await a_rich_thread(backend))
        assert await backend.retention.trim_thread(Trim(KEY, UID, 13, 12))
        before = await sights(backend, KEY)
        parts = await exported(backend)
        assert [(part.id, part.version) for part in parts if isinstance(part, MessageRecord)] == [
            (f"m{version}.0", version) for version in range(1, 6)
        ]
        await moved(backend)
        assert await sights(backend, KEY) == before
        assert await exported(backend) == parts
        grant = await a_grant(backend)
        await grow(backend, grant, range(14, 16))
        await fork(backend, grant, 16, 12)
        await backend.threads.append(a_write(grant, 17, erased=("m2.0",)))
        assert [message.id for message in await backend.messages.list_messages(KEY)] == ["m1.0", "m3.0", "m4.0", "m5.0"]

    async def test_a_message_of_what_is_gone_stays_replaced_after_the_move(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        edited = a_message(4, 1, id="m1.0", body=b"edited")
        await backend.threads.append(a_write(grant, 4, messages=(edited,)))
        await backend.leases.release(grant)
        assert await backend.retention.trim_thread(Trim(KEY, UID, 4, 3))
        before = await sights(backend, KEY)
        await moved(backend)
        assert await sights(backend, KEY) == before
        assert edited in await backend.messages.list_messages(KEY)

    async def test_an_imported_thread_goes_on(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        await moved(backend)
        grant = await a_grant(backend)
        await grow(backend, grant, range(14, 40))
        # To a line that was abandoned before the move.
        await fork(backend, grant, 40, 9)
        assert await backend.threads.get_state(KEY, version=None) == grown(*range(1, 10))
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.line == ((1, 9), (40, 40))

    async def test_a_pending_approval_is_decided_after_the_move_and_no_other(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        await moved(backend)
        grant = await a_grant(backend)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        (asked,) = head.pending
        decided = ApprovalDecision(asked.id, ApprovalState.APPROVED, b"{}")
        later = an_approval(14)
        await backend.threads.append(a_write(grant, 14, approvals=(later,)))
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.pending == (asked, later)
        await backend.threads.append(a_write(grant, 15, decisions=(decided,)))

    async def test_a_repeated_request_is_known_after_the_move(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        parts = await exported(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        await backend.threads.forget_requests(before_ms=NOW + 1000)
        assert await backend.threads.find_request(KEY, a_request(1).request_hash) is None
        await backend.archive.import_thread(parts)
        assert await backend.threads.find_request(KEY, a_request(1).request_hash) == a_request(1, version=10)
        grant = await a_grant(backend)
        with pytest.raises(RequestRecorded):
            await backend.threads.append(a_write(grant, 14, request=a_request(1)))

    async def test_the_word_to_cancel_goes_along(self, backend: Backend) -> None:
        await a_line(backend, 2)
        assert await backend.threads.request_cancel(KEY, UID, 1, 1)
        await moved(backend)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.cancel_requested

    async def test_a_run_that_was_under_way_is_an_interrupted_one_after_the_move(self, backend: Backend) -> None:
        await a_line(backend, 2)
        await moved(backend)
        (found,) = await backend.threads.list_interrupted(("support",), after=None, limit=9)
        assert (found.key, found.head_version) == (KEY, 2)

    async def test_what_is_there_is_not_written_over(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        parts = await exported(backend)
        await grow(backend, grant, range(3, 4))
        before = await sights(backend, KEY)
        with pytest.raises(ThreadExists):
            await backend.archive.import_thread(parts)
        assert await sights(backend, KEY) == before
        assert backend.leases.holds(grant)

    async def test_of_imports_at_once_one_wins(self, backend: Backend) -> None:
        await a_line(backend, 2)
        parts = await exported(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        imports = (backend.archive.import_thread(parts) for _ in range(5))
        outcomes = await asyncio.gather(*imports, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes if outcome] == [ThreadExists] * 4

    async def test_whoever_held_the_id_before_writes_nothing_to_the_imported_thread(self, backend: Backend) -> None:
        await a_line(backend, 2)
        parts = await exported(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        grant = await a_grant(backend)
        await backend.archive.import_thread(parts)
        with pytest.raises(LeaseLost):
            await backend.threads.append(a_write(grant, 1, uid="uid-9"))

    async def test_what_breaks_off_in_the_middle_leaves_nothing(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        parts = await exported(backend)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)

        class Broken:
            def __iter__(self) -> Iterator[Part]:
                yield from parts[:-1]
                raise DataCorrupt("the end is missing")

        with pytest.raises(DataCorrupt, match="the end is missing"):
            await backend.archive.import_thread(Broken())
        assert await backend.threads.get_head(KEY) is None
        assert list(await backend.approvals.list_approvals("acme")) == []
        await backend.archive.import_thread(parts)
        assert await exported(backend) == parts

    async def test_an_export_shows_the_moment_it_began(self, backend: Backend) -> None:
        grant = await a_line(backend, 300)
        expected = await exported(backend)
        async with aclosing(backend.archive.export_thread(KEY)) as parts:
            found = [await anext(parts)]
            await grow(backend, grant, range(301, 303))
            await backend.threads.append(a_write(grant, 303, erased=("m299.0",)))
            found += [part async for part in parts]
        assert found == expected

    async def test_an_export_that_is_left_holds_nobody_up(self, backend: Backend) -> None:
        grant = await a_line(backend, 300)
        for _ in range(20):
            async with aclosing(backend.archive.export_thread(KEY)) as parts:
                await anext(parts)
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert not backend.leases.holds(grant)


def _bytes(*payloads: bytes) -> Amount:
    return Amount(len(payloads), sum(map(len, payloads)))


class SizePromises(Promises):
    """`Sizes`."""

    async def test_an_empty_database_has_nothing_of_any_kind(self, backend: Backend) -> None:
        stats = await backend.sizes.stats(largest=3)
        assert (stats.threads, dict(stats.by_status), stats.largest) == (0, {}, ())
        assert stats.kinds == dict.fromkeys(Kind, Amount())

    async def test_payloads_are_counted_by_kind(self, backend: Backend) -> None:
        await a_rich_thread(backend)
        await backend.cache.put_value(CacheKey("acme", "n\u00e4", "k"), CachedValue(b"[1]"))
        log = await backend.threads.read_log(KEY, UID, after_version=0, limit=99, max_bytes=1 << 20)
        asked = await backend.approvals.list_approvals("acme")
        kinds = (await backend.sizes.stats(largest=1)).kinds
        assert kinds[Kind.CHECKPOINTS] == _bytes(*(entry.checkpoint.body for entry in log))
        assert kinds[Kind.MESSAGES] == _bytes(*(message.body for entry in log for message in entry.messages))
        assert kinds[Kind.APPROVALS] == _bytes(*(one.body + (one.decision or b"") for one in asked))
        assert kinds[Kind.REQUESTS] == _bytes(b'{"n":1}', b'{"n":1}')
        assert kinds[Kind.CACHE] == Amount(1, len("n\u00e4k[1]".encode()))
        # As they are stored, which each backend does in its own way: every change, and folds.
        assert kinds[Kind.STATES].rows >= 11
        assert kinds[Kind.STATES].bytes >= sum(len(b'"last"%d"all"%d' % (n, n)) for n in range(1, 10))

    async def test_threads_are_counted_by_status(self, backend: Backend) -> None:
        await a_line(backend, 2)
        grant = await a_grant(backend, OTHER)
        done = a_write(grant, checkpoint=replace(a_checkpoint(), status=Status.COMPLETED))
        await backend.threads.append(done)
        gone = ThreadKey("umbrella", "gone")
        for key in (ThreadKey("umbrella", "new"), ThreadKey("umbrella", "newer"), gone):
            await backend.threads.change_info(key, InfoChange(), create=a_thread(key), request=None, now_ms=NOW)
        await backend.threads.delete_thread(gone, request=None, now_ms=NOW)
        stats = await backend.sizes.stats(largest=0)
        assert (stats.threads, stats.largest) == (4, ())
        assert dict(stats.by_status) == {Status.IN_PROGRESS: 1, Status.COMPLETED: 1, None: 2}

    async def test_the_largest_threads_are_named_with_what_they_hold(self, backend: Backend) -> None:
        keys = [ThreadKey("acme", name) for name in ("b", "a", "c")]
        for key, size in zip(keys, (10, 10, 500), strict=True):
            grant = await a_grant(backend, key)
            checkpoint: CheckpointRecord = a_checkpoint(body=b"x" * size)
            await backend.threads.append(a_write(grant, checkpoint=checkpoint, messages=(a_message(1, body=b"12345"),)))
        new = ThreadKey("umbrella", "new")
        await backend.threads.change_info(new, InfoChange(), create=a_thread(new), request=None, now_ms=NOW)
        largest = (await backend.sizes.stats(largest=9)).largest
        assert [(size.key.thread_id, size.bytes) for size in largest] == [("c", 505), ("a", 15), ("b", 15), ("new", 0)]
        assert largest[0].kinds == {Kind.CHECKPOINTS: Amount(1, 500), Kind.MESSAGES: Amount(1, 5)}
        assert (await backend.sizes.stats(largest=2)).largest == largest[:2]

    async def test_requests_of_a_deleted_thread_are_counted_and_are_nobodys(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request(1)))
        await backend.threads.delete_thread(KEY, request=a_request(2), now_ms=NOW)
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, uid="uid-9", request=a_request(3, uid="uid-9")))
        stats = await backend.sizes.stats(largest=1)
        assert stats.kinds[Kind.REQUESTS].rows == 3
        assert stats.largest[0].kinds[Kind.REQUESTS].rows == 1
