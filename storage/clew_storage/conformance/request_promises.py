"""Requests: committed mutations, found again by thread id for as long as they are kept."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import KEY, NOW, OTHER, a_grant, a_line, a_request, a_write
from clew_storage.errors import RequestRecorded
from clew_storage.port import Backend


class RequestPromises(Promises):
    """`Threads.find_request` and `forget_requests`."""

    async def test_a_request_comes_back_as_it_was_recorded(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        request = replace(a_request(), request_hash=b"\x00" * 16, body_digest=b"\xff" * 16, reply=b"", verb="décide")
        await backend.threads.append(a_write(grant, request=request))
        assert await backend.threads.find_request(KEY, request.request_hash) == request

    async def test_a_request_of_another_thread_or_none_is_not_found(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        assert await backend.threads.find_request(OTHER, a_request().request_hash) is None
        assert await backend.threads.find_request(KEY, a_request(2).request_hash) is None

    async def test_the_same_request_id_on_two_threads_is_two_requests(self, backend: Backend) -> None:
        for key in (KEY, OTHER):
            grant = await a_grant(backend, key)
            await backend.threads.append(a_write(grant, request=a_request()))

    async def test_old_records_are_forgotten_and_counted(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for number in range(2, 8):
            request = a_request(number, created_at_ms=NOW + number)
            await backend.threads.append(a_write(grant, number, request=request))
        assert await backend.threads.forget_requests(before_ms=NOW + 5) == 3
        assert await backend.threads.forget_requests(before_ms=NOW + 5) == 0
        for number in range(2, 8):
            found = await backend.threads.find_request(KEY, a_request(number).request_hash)
            assert (found is not None) == (number >= 5)

    async def test_a_forgotten_request_can_be_made_again(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        with pytest.raises(RequestRecorded):
            await backend.threads.append(a_write(grant, 2, request=a_request()))
        await backend.threads.forget_requests(before_ms=NOW + 1)
        await backend.threads.append(a_write(grant, 2, request=a_request()))

    async def test_forgetting_touches_no_thread_and_forgets_the_deleted_ones_too(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        await backend.threads.append(a_write(grant, request=a_request()))
        theirs = await a_grant(backend, OTHER)
        await backend.threads.append(a_write(theirs, request=a_request()))
        await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert await backend.threads.forget_requests(before_ms=NOW + 1) == 2
        assert await backend.threads.find_request(KEY, a_request().request_hash) is None
        assert await backend.threads.get_head(OTHER) is not None
        # Nor does what was deleted come back, or an old grant with it.
        assert await backend.threads.get_head(KEY) is None
        assert (await a_grant(backend)).epoch > grant.epoch
