"""Copies: a line as rows of its own."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

from typing import Any

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
from clew_storage.conformance.state_promises import grown
from clew_storage.errors import CheckpointMissing, RequestRecorded, StorageError, ThreadExists, ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import Source, StateChange, Status, Write, Written


def a_copy_write(version: int, **changes: Any) -> Write:
    """The fork checkpoint that a copy ends with."""
    checkpoint = a_checkpoint(version + 1, run_version=version + 1, source=Source.FORK, status=Status.FAILED)
    made = Write(OTHER, "uid-2", 7, version, checkpoint, fork_of=version)
    return replace(made, **changes)


async def copy(backend: Backend, version: int, **changes: Any) -> Written:
    """Copy the example's thread up to a version."""
    return await backend.threads.copy_thread(KEY, UID, a_thread(), a_copy_write(version, **changes))


class CopyPromises(Promises):
    """`Threads.copy_thread`."""

    async def test_a_copy_has_the_line_the_messages_and_the_state_of_its_source(self, backend: Backend) -> None:
        await a_line(backend, 20)
        written = await copy(backend, 20)
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert head.thread == written.thread
        assert head.checkpoint == a_copy_write(20).checkpoint
        assert head.line == ((1, 21),)
        assert await backend.messages.list_messages(OTHER) == await backend.messages.list_messages(KEY)
        assert await backend.threads.get_state(OTHER, version=None) == grown(*range(1, 21))
        assert await backend.threads.get_state(OTHER, version=9) == grown(*range(1, 10))
        assert await backend.threads.get_checkpoint(OTHER, 9) == a_checkpoint(9)

    async def test_a_copy_is_the_target_that_was_given(self, backend: Backend) -> None:
        await a_line(backend, 3)
        thread = (await copy(backend, 3)).thread
        assert (thread.key, thread.uid, thread.info) == (OTHER, "uid-2", a_thread().info)
        assert (thread.head_version, thread.head_status) == (4, Status.FAILED)
        assert (thread.created_at_ms, thread.updated_at_ms) == (NOW, NOW + 4)

    async def test_a_copy_up_to_an_older_version_holds_nothing_newer(self, backend: Backend) -> None:
        await a_line(backend, 9)
        await copy(backend, 4)
        assert [message.id for message in await backend.messages.list_messages(OTHER)] == [
            f"m{version}.0" for version in range(1, 5)
        ]
        assert await backend.threads.get_state(OTHER, version=None) == grown(1, 2, 3, 4)
        assert await backend.threads.get_checkpoint(OTHER, 6) is None
        assert await backend.messages.get_message(OTHER, "m7.0") is None

    async def test_a_copy_holds_its_line_alone(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 3)
        await grow(backend, grant, range(7, 9))
        await copy(backend, 8)
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert head.line == ((1, 3), (6, 9))
        log = await backend.threads.read_log(OTHER, "uid-2", after_version=0, limit=99, max_bytes=1 << 20)
        assert [entry.checkpoint.version for entry in log] == [1, 2, 3, 6, 7, 8, 9]
        assert [[message.id for message in entry.messages] for entry in log] == [
            ["m1.0"], ["m2.0"], ["m3.0"], [], ["m7.0"], ["m8.0"], [],
        ]  # fmt: skip
        resumed = await backend.threads.read_log(OTHER, "uid-2", after_version=4, limit=2, max_bytes=1 << 20)
        assert [entry.checkpoint.version for entry in resumed] == [6, 7]
        assert await backend.threads.get_checkpoint(OTHER, 4) is None
        assert await backend.threads.get_state(OTHER, version=7) == grown(1, 2, 3, 7)

    async def test_an_abandoned_line_can_be_copied(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 2)
        await copy(backend, 5)
        assert len(await backend.messages.list_messages(OTHER)) == 5
        assert await backend.threads.get_state(OTHER, version=None) == grown(1, 2, 3, 4, 5)

    async def test_source_and_copy_go_on_and_end_independently(self, backend: Backend) -> None:
        grant = await a_line(backend, 3)
        await copy(backend, 3)
        await grow(backend, grant, range(4, 6))
        theirs = await a_grant(backend, OTHER)
        await grow(backend, theirs, range(5, 7), uid="uid-2")
        assert await backend.threads.get_state(KEY, version=None) == grown(1, 2, 3, 4, 5)
        assert await backend.threads.get_state(OTHER, version=None) == grown(1, 2, 3, 5, 6)
        assert await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
        assert [message.id for message in await backend.messages.list_messages(OTHER)] == [
            "m1.0", "m2.0", "m3.0", "m5.0", "m6.0",
        ]  # fmt: skip

    async def test_a_copy_can_be_rewound_and_copied_in_its_turn(self, backend: Backend) -> None:
        grant = await a_line(backend, 5)
        await fork(backend, grant, 6, 3)
        await grow(backend, grant, range(7, 9))
        await copy(backend, 8)
        theirs = await a_grant(backend, OTHER)
        await fork(backend, theirs, 10, 7, uid="uid-2")
        assert await backend.threads.get_state(OTHER, version=None) == grown(1, 2, 3, 7)
        third = a_thread(replace(OTHER, thread_id="thread-3"), uid="uid-3")
        write = replace(a_copy_write(10), key=third.key, uid="uid-3")
        await backend.threads.copy_thread(OTHER, "uid-2", third, write)
        assert await backend.threads.get_state(third.key, version=None) == grown(1, 2, 3, 7)
        assert [message.id for message in await backend.messages.list_messages(third.key)] == [
            "m1.0", "m2.0", "m3.0", "m7.0",
        ]  # fmt: skip

    async def test_edited_messages_and_chosen_ids_are_copied(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        edited = (a_message(3, 1, id="m1.0", body=b"edited"), a_message(3, 3, id="mine"))
        await backend.threads.append(a_write(grant, 3, messages=edited))
        await copy(backend, 3)
        for message in (*edited, a_message(2)):
            assert await backend.messages.get_message(OTHER, message.id) == message

    async def test_what_the_write_brings_is_in_the_copy(self, backend: Backend) -> None:
        await a_line(backend, 10)
        asked = an_approval(11, key=OTHER, uid="uid-2", id="asked")
        request = replace(a_request(5), uid="uid-2")
        await copy(
            backend,
            10,
            approvals=(asked,),
            request=request,
            messages=(a_message(11),),
            state=StateChange(replaced={"copied": b"true"}),
        )
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert head.pending == (asked,)
        assert await backend.threads.find_request(OTHER, request.request_hash) == request
        assert await backend.threads.get_state(OTHER, version=None) == grown(*range(1, 11)) | {"copied": b"true"}
        assert len(await backend.messages.list_messages(OTHER)) == 11

    async def test_approvals_and_requests_are_not_copied(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.threads.append(a_write(grant, 2, approvals=(an_approval(2),), request=a_request(2)))
        await copy(backend, 2)
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert head.pending == ()
        assert await backend.threads.find_request(OTHER, a_request(2).request_hash) is None
        log = await backend.threads.read_log(OTHER, "uid-2", after_version=0, limit=99, max_bytes=1 << 20)
        assert [entry.approvals for entry in log] == [(), (), ()]

    async def test_a_held_source_and_a_held_target_do_not_matter(self, backend: Backend) -> None:
        await a_line(backend, 1)
        await a_grant(backend, OTHER)
        await copy(backend, 1)

    async def test_refusals_come_in_their_order_and_leave_no_trace(self, backend: Backend) -> None:
        async def refused(error: type[StorageError], version: int = 2, uid: str = UID) -> None:
            with pytest.raises(error):
                await backend.threads.copy_thread(KEY, uid, a_thread(), a_copy_write(version, request=a_request(5)))

        await refused(ThreadMissing)
        await a_line(backend, 2)
        await refused(ThreadMissing, uid="another")
        await refused(CheckpointMissing, version=9)
        assert await backend.threads.get_head(OTHER) is None
        theirs = await a_line(backend, 1, OTHER)
        await refused(ThreadExists)
        await backend.threads.append(a_write(theirs, 2, request=a_request(5)))
        await refused(RequestRecorded, version=9, uid="another")
        assert len(await backend.messages.list_messages(OTHER)) == 1

    async def test_a_copy_can_take_the_place_of_a_deleted_thread(self, backend: Backend) -> None:
        await a_line(backend, 3)
        theirs = await a_line(backend, 5, OTHER)
        await backend.threads.delete_thread(OTHER, request=None, now_ms=NOW)
        written = await copy(backend, 3)
        assert written.thread.uid == "uid-2"
        head = await backend.threads.get_head(OTHER)
        assert head is not None
        assert head.thread.epoch > theirs.epoch
        assert len(await backend.messages.list_messages(OTHER)) == 3
