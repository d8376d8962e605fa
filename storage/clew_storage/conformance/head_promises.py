"""Heads, checkpoints, history and the word that a run is to be cancelled."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    NOW,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_request,
    a_thread,
    a_write,
    an_approval,
    fork,
    grow,
)
from clew_storage.errors import RequestRecorded
from clew_storage.port import Backend
from clew_storage.records import CheckpointRecord, InfoChange, Source, Status


class HeadPromises(Promises):
    """`Threads.get_head`, `get_checkpoint`, `list_checkpoints`, `request_cancel`."""

    async def test_where_there_is_no_thread_there_is_no_head(self, backend: Backend) -> None:
        await a_line(backend, 1)
        assert await backend.threads.get_head(OTHER) is None

    async def test_a_thread_without_a_checkpoint_has_a_head_without_one(self, backend: Backend) -> None:
        made = await backend.threads.change_info(OTHER, InfoChange(), create=a_thread(), request=None, now_ms=NOW)
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert (head.thread, head.checkpoint, head.line, head.pending) == (made, None, (), ())
        assert (made.head_version, made.head_status) == (0, None)

    async def test_the_head_is_the_newest_checkpoint_as_it_was_written(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for source, status in zip(Source, [*Status, *Status, *Status], strict=False):
            version = (await _head_version(backend)) + 1
            written = CheckpointRecord(version, version - 1, version, 7, status, source, 12, 99, NOW + 5, b'{"a":[]}')
            await backend.threads.append(a_write(grant, version, checkpoint=written))
            head = await backend.threads.get_head(KEY)
            assert head is not None
            assert head.checkpoint == written

    async def test_the_line_names_the_versions_that_led_to_the_head(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        assert await _line(backend) == ((1, 5),)
        await fork(backend, grant, 6, 3)
        assert await _line(backend) == ((1, 3), (6, 6))
        await grow(backend, grant, range(7, 9))
        assert await _line(backend) == ((1, 3), (6, 8))
        await fork(backend, grant, 9, 7)
        assert await _line(backend) == ((1, 3), (6, 7), (9, 9))

    async def test_a_fork_of_an_abandoned_version_takes_up_its_line(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 2)
        await fork(backend, grant, 7, 5)
        assert await _line(backend) == ((1, 5), (7, 7))
        await fork(backend, grant, 8, 6)
        assert await _line(backend) == ((1, 2), (6, 6), (8, 8))

    async def test_a_fork_of_the_head_itself_goes_on_without_a_gap(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await fork(backend, grant, 4, 3)
        assert await _line(backend) == ((1, 4),)

    async def test_pending_approvals_come_in_the_order_they_were_asked(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        asked = tuple(an_approval(2, number) for number in range(12))
        await backend.threads.append(a_write(grant, 2, approvals=asked))
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.pending == asked

    async def test_a_checkpoint_is_found_on_the_heads_line_and_off_it(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 2)
        for version in range(1, 6):
            assert await backend.threads.get_checkpoint(KEY, version) == a_checkpoint(version)
        forked = await backend.threads.get_checkpoint(KEY, 6)
        assert forked is not None
        assert forked.parent_version == 2

    async def test_there_is_no_checkpoint_that_was_not_written(self, backend: Backend) -> None:
        await a_line(backend, 2)
        await a_line(backend, 5, OTHER)
        for version in (0, 3, 99):
            assert await backend.threads.get_checkpoint(KEY, version) is None
        assert await backend.threads.get_checkpoint(a_thread().key, 6) is None

    async def test_history_is_the_heads_line_newest_first(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 3)
        await grow(backend, grant, range(7, 9))
        assert await _history(backend) == [8, 7, 6, 3, 2, 1]

    async def test_history_is_read_in_pages_below_a_version(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 3)
        assert await _history(backend, limit=2) == [6, 3]
        assert await _history(backend, before=3, limit=1) == [2]
        assert await _history(backend, before=5) == [3, 2, 1]
        assert await _history(backend, before=1) == []
        assert await _history(backend, before=99) == [6, 3, 2, 1]

    async def test_history_is_that_of_the_version_it_is_asked_at(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 3)
        await fork(backend, grant, 7, 2)
        assert await _history(backend) == [7, 2, 1]
        assert await _history(backend, at=5) == [5, 4, 3, 2, 1]
        assert await _history(backend, at=6) == [6, 3, 2, 1]
        assert await _history(backend, at=5, before=3, limit=1) == [2]
        assert await _history(backend, at=2) == [2, 1]
        assert await _history(backend, at=8) == []

    async def test_there_is_no_history_where_there_is_no_thread(self, backend: Backend) -> None:
        assert list(await backend.threads.list_checkpoints(KEY, before_version=None, limit=5)) == []

    async def test_many_rewinds_leave_a_line_that_reads_as_ever(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        version = 2
        for _ in range(40):
            await fork(backend, grant, version + 1, version - 1)
            await grow(backend, grant, range(version + 2, version + 3))
            version += 2
        line = await _line(backend)
        on_line = [number for first, last in line for number in range(first, last + 1)]
        assert len(line) == 41
        assert await _history(backend, limit=1000) == on_line[::-1]

    async def test_a_request_to_cancel_is_left_for_the_attempt_it_names(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        assert await backend.threads.request_cancel(KEY, UID, 1, 1)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.cancel_requested
        assert (await backend.threads.append(a_write(grant, 3))).cancel_requested

    async def test_a_request_to_cancel_what_is_not_running_does_nothing(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for uid, run_version, attempt in (("another", 1, 1), (UID, 2, 1), (UID, 1, 2)):
            assert not await backend.threads.request_cancel(KEY, uid, run_version, attempt)
        assert not await backend.threads.request_cancel(OTHER, UID, 1, 1)
        assert not (await backend.threads.append(a_write(grant, 2))).cancel_requested

    async def test_a_request_to_cancel_is_recorded_with_the_word_that_it_leaves(self, backend: Backend) -> None:
        await a_line(backend, 1)
        record = a_request(1, uid=UID, version=1, reply=b"[1,1]")
        assert not await backend.threads.request_cancel(KEY, UID, 1, 2, request=record)
        assert await backend.threads.find_request(KEY, record.request_hash) is None
        assert await backend.threads.request_cancel(KEY, UID, 1, 1, request=record)
        assert await backend.threads.find_request(KEY, record.request_hash) == record
        for attempt in (1, 2):
            with pytest.raises(RequestRecorded):
                await backend.threads.request_cancel(KEY, UID, 1, attempt, request=record)

    async def test_a_request_to_cancel_finds_only_a_head_in_progress(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for version, status in enumerate((Status.SUSPENDED, Status.COMPLETED, Status.FAILED), start=2):
            await backend.threads.append(a_write(grant, version, checkpoint=a_checkpoint(version, status=status)))
            assert not await backend.threads.request_cancel(KEY, UID, 1, 1)
        assert not await backend.threads.request_cancel(KEY, UID, 0, 0)

    async def test_a_request_to_cancel_is_cleared_by_another_run_or_attempt(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        version = 1
        for run_version, attempt in ((1, 2), (5, 2)):
            head = await backend.threads.get_head(KEY)
            assert head is not None
            assert head.checkpoint is not None
            asked = (head.checkpoint.run_version, head.checkpoint.attempt)
            assert await backend.threads.request_cancel(KEY, UID, *asked)
            version += 1
            checkpoint = a_checkpoint(version, run_version=run_version, attempt=attempt)
            written = await backend.threads.append(a_write(grant, version, checkpoint=checkpoint))
            assert not written.cancel_requested
            # It does not come back with the attempt that it was made for.
            version += 1
            checkpoint = a_checkpoint(version, run_version=asked[0], attempt=asked[1])
            assert not (await backend.threads.append(a_write(grant, version, checkpoint=checkpoint))).cancel_requested

    async def test_heads_of_two_threads_are_independent(self, backend: Backend) -> None:
        grant = await a_grant(backend, KEY)
        await grow(backend, grant, range(1, 4))
        await a_line(backend, 7, OTHER)
        assert await _head_version(backend) == 3


async def _line(backend: Backend) -> tuple[tuple[int, int], ...]:
    head = await backend.threads.get_head(KEY)
    assert head is not None
    return head.line


async def _head_version(backend: Backend) -> int:
    head = await backend.threads.get_head(KEY)
    assert head is not None
    return head.thread.head_version


async def _history(backend: Backend, *, before: int | None = None, limit: int = 50, at: int | None = None) -> list[int]:
    found = await backend.threads.list_checkpoints(KEY, before_version=before, limit=limit, at_version=at)
    return [checkpoint.version for checkpoint in found]
