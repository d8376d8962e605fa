"""A thread's info: changed without a lease, a version or a loss."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import KEY, NOW, OTHER, UID, a_line, a_request, a_thread, a_write
from clew_storage.errors import RequestRecorded, RevisionConflict, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import InfoChange, RequestRecord, ThreadInfo, ThreadRecord


async def change(
    backend: Backend, wanted: InfoChange, *, create: ThreadRecord | None = None, request: RequestRecord | None = None
) -> ThreadRecord:
    """Change the info of the example's thread."""
    return await backend.threads.change_info(KEY, wanted, create=create, request=request, now_ms=NOW + 100)


class InfoPromises(Promises):
    """`Threads.change_info`."""

    async def test_what_is_none_stays(self, backend: Backend) -> None:
        await a_line(backend, 1)
        named = await change(backend, InfoChange(name="a\x00name"))
        assert named.info == ThreadInfo("support", "ada", "a\x00name", b"{}", revision=2)
        given = await change(backend, InfoChange(metadata=b'{"n":9007199254740993}', user_id="bob"))
        assert given.info == ThreadInfo("support", "bob", "a\x00name", b'{"n":9007199254740993}', revision=3)
        cleared = await change(backend, InfoChange(name="", user_id=""))
        assert cleared.info == ThreadInfo("support", "", "", b'{"n":9007199254740993}', revision=4)

    async def test_a_change_is_seen_at_the_head_and_makes_no_version(self, backend: Backend) -> None:
        await a_line(backend, 2)
        changed = await change(backend, InfoChange(name="new"))
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.thread == changed
        assert (changed.head_version, changed.created_at_ms, changed.updated_at_ms) == (2, NOW + 1, NOW + 100)

    async def test_a_change_waits_for_no_lease_and_a_turn_does_not_wipe_it(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await change(backend, InfoChange(name="while held"))
        written = await backend.threads.append(a_write(grant, 2))
        assert written.thread.info.name == "while held"

    async def test_where_there_is_no_thread_it_is_missing(self, backend: Backend) -> None:
        with pytest.raises(ThreadMissing):
            await change(backend, InfoChange(name="x"))

    async def test_a_thread_is_made_where_there_is_none_and_the_change_applied_to_it(self, backend: Backend) -> None:
        made = await change(backend, InfoChange(name="given"), create=a_thread(KEY))
        assert made.info == ThreadInfo("support", "ada", "given", b'{"k":"v"}', revision=1)
        assert (made.uid, made.created_at_ms, made.updated_at_ms) == ("uid-2", NOW, NOW + 100)
        head = await backend.threads.get_head(KEY)
        assert head is not None
        assert head.thread == made

    async def test_a_thread_that_is_there_is_not_made_again(self, backend: Backend) -> None:
        await a_line(backend, 1)
        changed = await change(backend, InfoChange(name="x"), create=a_thread(KEY))
        assert (changed.uid, changed.info.app) == (UID, "support")
        assert changed.info.revision == 2

    async def test_another_revision_is_refused_with_both(self, backend: Backend) -> None:
        await a_line(backend, 1)
        await change(backend, InfoChange(name="x", expected_revision=1))
        with pytest.raises(RevisionConflict) as refused:
            await change(backend, InfoChange(name="y", expected_revision=1))
        assert (refused.value.expected, refused.value.actual) == (1, 2)
        with pytest.raises(RevisionConflict):
            await backend.threads.change_info(
                OTHER, InfoChange(expected_revision=1), create=a_thread(), request=None, now_ms=NOW
            )
        assert await backend.threads.get_head(OTHER) is None

    async def test_of_changes_that_race_for_a_revision_one_wins(self, backend: Backend) -> None:
        await a_line(backend, 1)
        outcomes = await asyncio.gather(
            *(change(backend, InfoChange(name=str(number), expected_revision=1)) for number in range(8)),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, RevisionConflict) for outcome in outcomes) == 7

    async def test_a_recorded_request_is_refused_first(self, backend: Backend) -> None:
        await a_line(backend, 1)
        request = a_request(7, verb="update", version=0)
        await change(backend, InfoChange(name="x"), request=request)
        assert await backend.threads.find_request(KEY, request.request_hash) == request
        with pytest.raises(RequestRecorded):
            await change(backend, InfoChange(name="y", expected_revision=77), request=request)

    async def test_a_refused_change_records_no_request(self, backend: Backend) -> None:
        await a_line(backend, 1)
        with pytest.raises(RevisionConflict):
            await change(backend, InfoChange(expected_revision=9), request=a_request(7))
        assert await backend.threads.find_request(KEY, a_request(7).request_hash) is None

    async def test_the_request_of_a_change_that_made_the_thread_keeps_its_uid(self, backend: Backend) -> None:
        request = replace(a_request(7), uid="uid-2")
        await change(backend, InfoChange(), create=a_thread(KEY), request=request)
        assert await backend.threads.find_request(KEY, request.request_hash) == request
