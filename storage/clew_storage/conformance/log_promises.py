"""The log: every version in order, with what it brought."""
# ruff: noqa: D102 - a test's name is its sentence

from __future__ import annotations

import pytest

from clew_storage.conformance.categories import Promises
from clew_storage.conformance.examples import (
    KEY,
    OTHER,
    UID,
    a_checkpoint,
    a_grant,
    a_line,
    a_message,
    a_write,
    an_approval,
    fork,
    grow,
)
from clew_storage.errors import ThreadMissing
from clew_storage.port import Backend
from clew_storage.records import ApprovalDecision, ApprovalState, LogEntry, Source


async def read(
    backend: Backend, *, after: int = 0, limit: int = 100, max_bytes: int = 1 << 20, uid: str = UID
) -> list[LogEntry]:
    """The log of the example's thread."""
    return list(await backend.threads.read_log(KEY, uid, after_version=after, limit=limit, max_bytes=max_bytes))


async def starts(backend: Backend, *, after: int = 0, limit: int = 100, uid: str = UID) -> list[int]:
    """The versions of the intents and forks of the example's thread."""
    found = await backend.threads.list_starts(KEY, uid, after_version=after, limit=limit)
    return [record.version for record in found]


class LogPromises(Promises):
    """`Threads.read_log` and `Threads.list_starts`."""

    async def test_intents_and_forks_are_found_on_whatever_line(self, backend: Backend) -> None:
        grant = await a_line(backend, 2)
        intent = a_checkpoint(3, source=Source.INTENT, body=b'{"s":["call_2_0"]}')
        await backend.threads.append(a_write(grant, 3, checkpoint=intent))
        await grow(backend, grant, range(4, 6))
        await fork(backend, grant, 6, 2)
        await grow(backend, grant, range(7, 9))
        found = await backend.threads.list_starts(KEY, UID, after_version=0, limit=100)
        assert [(record.version, record.source) for record in found] == [(3, Source.INTENT), (6, Source.FORK)]
        assert found[0] == intent

    async def test_they_are_read_in_parts_that_join_without_a_gap(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        for version in range(2, 7):
            await backend.threads.append(
                a_write(grant, version, checkpoint=a_checkpoint(version, source=Source.INTENT))
            )
        assert await starts(backend, limit=2) == [2, 3]
        assert await starts(backend, after=3, limit=2) == [4, 5]
        assert await starts(backend, after=5, limit=2) == [6]
        assert await starts(backend, after=6) == []

    async def test_those_of_other_threads_are_not_found(self, backend: Backend) -> None:
        await a_line(backend, 2)
        grant = await a_line(backend, 2, OTHER)
        await backend.threads.append(a_write(grant, 3, checkpoint=a_checkpoint(3, source=Source.INTENT)))
        assert await starts(backend) == []

    async def test_those_of_another_incarnation_or_of_no_thread_are_missing(self, backend: Backend) -> None:
        with pytest.raises(ThreadMissing):
            await starts(backend)
        await a_line(backend, 2)
        with pytest.raises(ThreadMissing):
            await starts(backend, uid="another")

    async def test_each_entry_is_what_its_write_brought_in_the_order_given(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        messages = tuple(a_message(2, 9 - number, id=f"m2.{number}") for number in range(3))
        approvals = tuple(an_approval(2, number) for number in (2, 0, 1))
        await backend.threads.append(a_write(grant, 2, messages=messages, approvals=approvals))
        await backend.threads.append(a_write(grant, 3))
        assert await read(backend, after=1) == [
            LogEntry(a_checkpoint(2), messages, approvals),
            LogEntry(a_checkpoint(3), (), ()),
        ]

    async def test_the_log_is_in_version_order_with_abandoned_lines_included(self, backend: Backend) -> None:
        grant = await a_line(backend, 4)
        await fork(backend, grant, 5, 2)
        await grow(backend, grant, range(6, 8))
        entries = await read(backend)
        assert [entry.checkpoint.version for entry in entries] == [1, 2, 3, 4, 5, 6, 7]
        assert [[message.id for message in entry.messages] for entry in entries] == [
            ["m1.0"], ["m2.0"], ["m3.0"], ["m4.0"], [], ["m6.0"], ["m7.0"],
        ]  # fmt: skip

    async def test_it_is_read_in_parts_that_join_without_a_gap(self, backend: Backend) -> None:
        await a_line(backend, 7)
        versions, cursor = [], 0
        while entries := await read(backend, after=cursor, limit=3):
            assert len(entries) <= 3
            versions += [entry.checkpoint.version for entry in entries]
            cursor = versions[-1]
        assert versions == [1, 2, 3, 4, 5, 6, 7]

    async def test_beyond_the_head_there_is_nothing_yet(self, backend: Backend) -> None:
        await a_line(backend, 2)
        assert await read(backend, after=2) == []
        assert await read(backend, after=99) == []

    async def test_bytes_limit_a_part_but_never_to_nothing(self, backend: Backend) -> None:
        grant = await a_grant(backend)
        for version in range(1, 6):
            await backend.threads.append(a_write(grant, version, messages=(a_message(version, body=b"x" * 100),)))
        assert [entry.checkpoint.version for entry in await read(backend, max_bytes=250)] == [1, 2]
        assert [entry.checkpoint.version for entry in await read(backend, max_bytes=300)] == [1, 2, 3]
        assert [entry.checkpoint.version for entry in await read(backend, after=3, max_bytes=1)] == [4]

    async def test_approvals_stand_as_they_are_now(self, backend: Backend) -> None:
        grant = await a_line(backend, 1)
        await backend.threads.append(a_write(grant, 2, approvals=(an_approval(2),)))
        decision = ApprovalDecision(an_approval(2).id, ApprovalState.REJECTED, b'{"why":"no"}')
        await backend.threads.append(a_write(grant, 3, decisions=(decision,)))
        (asked,) = (await read(backend))[1].approvals
        assert (asked.state, asked.decision) == (ApprovalState.REJECTED, b'{"why":"no"}')

    async def test_the_log_of_another_incarnation_or_of_no_thread_is_missing(self, backend: Backend) -> None:
        with pytest.raises(ThreadMissing):
            await read(backend)
        await a_line(backend, 2)
        with pytest.raises(ThreadMissing):
            await read(backend, uid="another")

    async def test_the_log_holds_nothing_of_other_threads(self, backend: Backend) -> None:
        await a_line(backend, 2)
        await a_line(backend, 4, OTHER)
        assert len(await read(backend)) == 2
