"""Promise 1 in the middle of a sweep: whatever statement of a delete or a trim a process dies at, the thread is whole.

What `kill -9` leaves is what the files hold at that moment, for the system keeps what was written to them; so the files are copied
at every statement, and each copy is opened as a restarted server would open it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clew_storage import Backend, IdleFilter, Trim, open_storage
from clew_storage.conformance.examples import KEY, UID, a_grant, a_line, a_write, an_approval, fork, grow
from clew_storage.sqlite import SqliteBackend, group_commit
from tests.faults import figures

Change = Callable[[Backend], Awaitable[Any]]


async def delete(backend: Backend) -> None:
    """A batch of one thread."""
    (found,) = await backend.retention.list_idle(IdleFilter(), after=None, limit=1)
    assert await backend.retention.delete_idle([found], now_ms=1) == [KEY]


async def trim(backend: Backend) -> None:
    """A log whose beginning and other lines go."""
    assert await backend.retention.trim_thread(Trim(KEY, UID, 30, 18))


async def written(path: Path) -> None:
    """A thread with a state, messages, another line and a decided approval."""
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    grant = await a_line(backend, 14)
    await fork(backend, grant, 15, 9)
    await backend.threads.append(a_write(grant, 16, approvals=(an_approval(16),)))
    await backend.threads.append(a_write(grant, 17, void_approvals=True))
    await grow(backend, grant, range(18, 21))
    await fork(backend, grant, 21, 20)
    await grow(backend, grant, range(22, 31))
    await backend.leases.release(grant)
    await backend.close()


async def whole(backend: Backend) -> list[Any]:
    """All that can be read of the thread."""
    threads = backend.threads
    found: list[Any] = [await threads.get_head(KEY), await backend.messages.list_messages(KEY)]
    for version in range(1, 31):
        found += [
            await threads.get_checkpoint(KEY, version),
            await threads.get_state(KEY, version=version),
            await backend.messages.list_messages(KEY, at_version=version),
            await backend.messages.get_message(KEY, f"m{version}.0"),
        ]
    found.append(await backend.approvals.list_approvals(KEY.tenant, key=KEY))
    return found


async def read(path: Path) -> list[Any]:
    """What a restarted server reads, and that it can go on writing."""
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    try:
        found = await whole(backend)
        grant = await a_grant(backend)
        head = await backend.threads.get_head(KEY)
        await grow(backend, grant, range(31, 41) if head else range(1, 11))
        return found
    finally:
        await backend.close()


async def copies(folder: Path, change: Change) -> list[Path]:
    """The files at every statement of the change."""
    made: list[Path] = []
    backend = SqliteBackend(folder / "clew.db", url="sqlite://")
    await backend.open()

    def copied(_: str) -> None:
        place = folder / str(len(made))
        place.mkdir()
        for name in ("clew.db", "clew.db-wal"):
            shutil.copy(folder / name, place)
        made.append(place / "clew.db")

    connection = backend._opened().writer._connection  # type: ignore[union-attr]
    await connection.run(lambda opened: opened.set_trace_callback(copied))
    await change(backend)
    await connection.run(lambda opened: opened.set_trace_callback(None))
    await backend.close()
    return made


def without_a_transaction(connection: sqlite3.Connection, steps: Sequence[group_commit.Step[Any]]) -> list[Any]:
    """The broken variant: each statement commits by itself."""
    return [step(connection) for step in steps]


@pytest.mark.parametrize("change", [delete, trim])
@pytest.mark.parametrize("atomic", [True, False])
async def test_a_death_at_any_statement_leaves_a_whole_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, atomic: bool
) -> None:
    await written(tmp_path / "clew.db")
    before = await read_only(tmp_path, "before")
    if not atomic:
        monkeypatch.setattr(group_commit, "_commit_together", without_a_transaction)
    made = await copies(tmp_path, change)
    monkeypatch.undo()
    after = await read_only(tmp_path, "after")
    assert before != after
    step = max(1, len(made) // figures.times(8, len(made)))
    halves = [number for number in range(0, len(made), step) if await read(made[number]) not in (before, after)]
    what, variant = f"killed in a {change.__name__} of a sweep", f"no transaction, {change.__name__}"
    if atomic:
        tried = len(range(0, len(made), step))
        figures.record(figures.Figure(1, what, tried, other=len(halves), variants=(variant,)))
    assert (halves == []) is atomic
    if not atomic:
        figures.catch(variant)


async def read_only(folder: Path, name: str) -> list[Any]:
    """What a copy of the files shows."""
    place = folder / name
    place.mkdir()
    for file in ("clew.db", "clew.db-wal"):
        with suppress(FileNotFoundError):
            shutil.copy(folder / file, place)
    return await read(place / "clew.db")
