"""Group commit: few commits for many writes, and each write's fate its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from clew_storage import Grant, StorageFull, StorageUnavailable, ThreadKey, VersionConflict
from clew_storage.conformance.examples import KEY, a_grant, a_line, a_message, a_write
from clew_storage.sqlite import SqliteBackend
from clew_storage.sqlite.group_commit import GroupCommit


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[SqliteBackend]:
    backend = SqliteBackend(tmp_path / "clew.db", url="sqlite://clew.db")
    await backend.open()
    yield backend
    await backend.close()


def writer_of(backend: SqliteBackend) -> GroupCommit:
    writer = backend._opened().writer
    assert isinstance(writer, GroupCommit)
    return writer


async def on_the_writers_connection(backend: SqliteBackend, work: Callable[[sqlite3.Connection], Any]) -> Any:
    return await writer_of(backend)._connection.run(work)


async def test_writes_that_wait_together_share_a_commit(backend: SqliteBackend) -> None:
    grants = [await a_grant(backend, ThreadKey("acme", str(number))) for number in range(32)]
    before = writer_of(backend).commits
    for version in range(1, 6):
        await asyncio.gather(*(backend.threads.append(a_write(grant, version)) for grant in grants))
    # Thirty-two threads of five checkpoints: at most two commits a round, where each alone would need 160.
    assert writer_of(backend).commits - before <= 10


async def test_a_turn_of_one_thread_whose_two_tools_end_together_takes_four_commits(backend: SqliteBackend) -> None:
    grant = await a_grant(backend)
    before = writer_of(backend).commits
    await backend.threads.append(a_write(grant, 1))
    await backend.threads.append(a_write(grant, 2))
    await asyncio.gather(*(backend.threads.append(a_write(grant, version)) for version in (3, 4)))
    await backend.threads.append(a_write(grant, 5))
    assert writer_of(backend).commits - before == 4


async def test_a_refused_write_leaves_those_beside_it_alone(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 1)
    other = await a_grant(backend, ThreadKey("acme", "other"))
    before = writer_of(backend).commits
    outcomes = await asyncio.gather(
        backend.threads.append(a_write(grant, 2, messages=(a_message(2),))),
        backend.threads.append(a_write(grant, 2, messages=(a_message(2, body=b"loser"),))),
        backend.threads.append(a_write(other, 1)),
        backend.threads.append(a_write(grant, 3)),
        return_exceptions=True,
    )
    assert writer_of(backend).commits - before == 1
    assert [type(outcome) for outcome in outcomes].count(VersionConflict) == 1
    assert isinstance(outcomes[1], VersionConflict)
    assert [message.body for message in await backend.messages.list_messages(KEY)] == [b'{"text":"1"}', b'{"text":"2"}']


async def test_a_step_with_a_fault_of_its_own_harms_no_other(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 1)

    def faulty(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM messages")
        raise ZeroDivisionError

    outcomes = await asyncio.gather(
        writer_of(backend).write(faulty), backend.threads.append(a_write(grant, 2)), return_exceptions=True
    )
    assert isinstance(outcomes[0], ZeroDivisionError)
    assert len(await backend.messages.list_messages(KEY)) == 1


async def test_a_full_database_refuses_and_reads_go_on_and_writes_resume(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 3)
    await on_the_writers_connection(backend, lambda c: c.execute("PRAGMA max_page_count = 1").fetchall())
    big = (a_message(4, body=b"x" * 300_000),)
    with pytest.raises(StorageFull):
        await backend.threads.append(a_write(grant, 4, messages=big))
    assert len(await backend.messages.list_messages(KEY)) == 3
    await on_the_writers_connection(backend, lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchall())
    await backend.check()
    await backend.threads.append(a_write(grant, 4, messages=big))


async def test_what_does_not_fit_takes_no_write_with_it_that_does(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 1)
    others = [await a_grant(backend, ThreadKey("acme", str(number))) for number in range(4)]
    pages = await on_the_writers_connection(backend, lambda c: c.execute("PRAGMA page_count").fetchone()[0])
    limit = f"PRAGMA max_page_count = {pages + 8}"
    await on_the_writers_connection(backend, lambda c: c.execute(limit).fetchall())
    outcomes = await asyncio.gather(
        *(backend.threads.append(a_write(other, 1)) for other in others[:2]),
        backend.threads.append(a_write(grant, 2, messages=(a_message(2, body=b"x" * 300_000),))),
        *(backend.threads.append(a_write(other, 1)) for other in others[2:]),
        return_exceptions=True,
    )
    assert isinstance(outcomes[2], StorageFull)
    assert [isinstance(outcome, BaseException) for outcome in outcomes] == [False, False, True, False, False]


class FailingDisk:
    """Stands for the writer's connection: every transaction ends in the error that a failed fsync gives."""

    def __init__(self) -> None:
        self.asked = 0

    async def run(self, _: object) -> None:
        self.asked += 1
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error


async def test_after_a_failed_fsync_nothing_is_written_until_the_storage_is_opened_anew(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = await a_line(backend, 3)
    disk = FailingDisk()
    monkeypatch.setattr(writer_of(backend), "_connection", disk)
    outcomes = await asyncio.gather(
        *(backend.threads.append(a_write(grant, 4)) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 3
    # The disk may be well again; what it lost meanwhile cannot be known.
    monkeypatch.undo()
    for call in (backend.threads.append(a_write(grant, 4)), backend.check()):
        with pytest.raises(StorageUnavailable, match="open the storage anew"):
            await call
    assert disk.asked == 1
    assert len(await backend.messages.list_messages(KEY)) == 3
    await backend.close()
    await backend.open()
    again = await backend.leases.acquire(KEY, purpose="run", wait_s=0)
    await backend.threads.append(a_write(again, 4))


async def test_what_waits_behind_a_failed_fsync_fails_with_it(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = await a_line(backend, 1)
    monkeypatch.setattr(writer_of(backend), "_connection", FailingDisk())
    monkeypatch.setattr("clew_storage.sqlite.group_commit._MOST_TOGETHER", 1)
    outcomes = await asyncio.gather(
        *(backend.threads.append(a_write(grant, 2)) for _ in range(5)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StorageUnavailable] * 5


async def test_a_cancelled_writer_is_no_burden_to_the_next(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 1)
    tasks = [asyncio.create_task(backend.threads.append(a_write(grant, 2))) for _ in range(5)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert await _grew(backend, grant) == 3


async def _grew(backend: SqliteBackend, grant: Grant) -> int:
    # A queued write comes first: by then what was cancelled is done or refused.
    with pytest.raises(VersionConflict):
        await backend.threads.append(a_write(grant, 9))
    head = await backend.threads.get_head(KEY)
    assert head is not None
    return (await backend.threads.append(a_write(grant, head.thread.head_version + 1))).thread.head_version


class Surprise:
    """Stands for the writer's connection: something nobody thought of."""

    async def run(self, _: object) -> None:
        raise RuntimeError("unforeseen")


async def test_an_unforeseen_error_ends_its_writes_and_the_writer_serves_the_next(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = await a_line(backend, 1)
    monkeypatch.setattr(writer_of(backend), "_connection", Surprise())
    with pytest.raises(RuntimeError, match="unforeseen"):
        await backend.threads.append(a_write(grant, 2))
    monkeypatch.undo()
    await backend.threads.append(a_write(grant, 2))
