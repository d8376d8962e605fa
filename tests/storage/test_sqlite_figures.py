"""Figures that are counted: bytes a turn, rows a read, and no query that looks through everything."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from math import log
from pathlib import Path
from typing import Any, Self

import pytest

from clew_storage import (
    ApprovalState,
    CachedValue,
    CacheKey,
    InfoChange,
    MessageRecord,
    Source,
    StateChange,
    Status,
    ThreadFilter,
    ThreadKey,
)
from clew_storage.conformance.examples import (
    KEY,
    NOW,
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
)
from clew_storage.records import Grant
from clew_storage.sqlite import SqliteBackend
from clew_storage.sqlite.readers import Readers

VALUE = CacheKey("acme", "n", "k")
TEXT = 200  # bytes of new text in each of a turn's five messages
ENGINE = b'{"calls":[{"id":"call_12_0","name":"look_up_order","state":"done"}]}'


async def open_at(path: Path) -> SqliteBackend:
    backend = SqliteBackend(path, url=f"sqlite://{path}")
    await backend.open()
    return backend


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[SqliteBackend]:
    backend = await open_at(tmp_path / "clew.db")
    yield backend
    await backend.close()


def size_of(path: Path) -> int:
    """The database with all that lies beside it."""
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


async def a_turn(backend: SqliteBackend, grant: Grant, number: int) -> None:
    """A user message, a model step with two calls, two results, a final model step: five checkpoints, 1 KB of text."""
    roles = ("user", "assistant", "tool", "tool", "assistant")
    for step, role in enumerate(roles):
        version = number * 5 + step + 1
        body = b'{"role":"%s","text":"%s"}' % (role.encode(), b"x" * TEXT)
        last = step == len(roles) - 1
        request = a_request(version, uid=UID, version=version, reply=b"") if step == 0 else None
        await backend.threads.append(
            a_write(
                grant,
                version,
                checkpoint=a_checkpoint(
                    version,
                    run_version=number * 5 + 1,
                    status=Status.COMPLETED if last else Status.IN_PROGRESS,
                    source=Source.STEP if step else Source.INPUT,
                    step=step,
                    body=b"{}" if last else ENGINE,
                ),
                messages=(MessageRecord(f"m{version}.0", version, version, role, NOW + version, body),),
                request=request,
            )
        )


async def test_bytes_stored_grow_with_the_text_and_no_faster(tmp_path: Path) -> None:
    sizes = {}
    for turns in (100, 1000):
        path = tmp_path / f"{turns}.db"
        backend = await open_at(path)
        grant = await a_grant(backend)
        for number in range(turns):
            await a_turn(backend, grant, number)
        await backend.close()
        sizes[turns] = size_of(path)
    assert sizes[1000] / (1000 * 5 * TEXT) <= 2.5
    assert sizes[1000] / sizes[100] <= 11


class Counter:
    """Counts the rows that the readers' queries return."""

    def __init__(self, backend: SqliteBackend) -> None:
        self._readers: Readers = backend._opened().readers
        self.rows = 0

    def _count(self, _: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.rows += 1
        return row

    async def __aenter__(self) -> Self:
        await self._set(self._count)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._set(None)

    async def _set(self, factory: Callable[[sqlite3.Cursor, tuple[Any, ...]], Any] | None) -> None:
        for connection in self._readers._busy:
            await connection.run(lambda opened: setattr(opened, "row_factory", factory))


@pytest.mark.parametrize("length", [8, 64, 100, 511, 512, 1000])
async def test_the_newest_state_is_read_from_few_rows_at_any_length(backend: SqliteBackend, length: int) -> None:
    grant = await a_grant(backend)
    for version in range(1, length + 1):
        change = StateChange(replaced={"n": b"%d" % version}, appended={"all": (b"%d" % version,)})
        await backend.threads.append(a_write(grant, version, state=change))
    async with Counter(backend) as counter:
        state = await backend.threads.get_state(KEY, version=None)
    assert state == {"n": b"%d" % length, "all": b"[" + b",".join(b"%d" % n for n in range(1, length + 1)) + b"]"}
    # One row more is the thread's own.
    assert counter.rows <= 8 * log(length, 8) + 1


async def test_state_that_grows_is_stored_a_few_times_at_most(backend: SqliteBackend, tmp_path: Path) -> None:
    grant = await a_grant(backend)
    element = b'"' + b"x" * 1022 + b'"'
    for version in range(1, 501):
        await backend.threads.append(a_write(grant, version, state=StateChange(appended={"all": (element,)})))
    state = await backend.threads.get_state(KEY, version=None)
    assert state is not None
    assert len(state["all"]) == 500 * 1025 + 1
    await backend.close()
    assert (tmp_path / "clew.db").stat().st_size <= 3 * 500 * 1024


@pytest.mark.parametrize("length", [25, 400])
async def test_twenty_checkpoints_of_history_are_twenty_rows_and_a_few(backend: SqliteBackend, length: int) -> None:
    await a_line(backend, length)
    async with Counter(backend) as counter:
        assert len(await backend.threads.list_checkpoints(KEY, before_version=None, limit=20)) == 20
    assert counter.rows <= 22


async def test_history_over_many_rewinds_reads_no_more(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 2)
    for version in range(3, 203):
        await fork(backend, grant, version, version - 2 if version % 2 else version - 1)
    async with Counter(backend) as counter:
        assert len(await backend.threads.list_checkpoints(KEY, before_version=None, limit=20)) == 20
    assert counter.rows <= 40


async def test_the_head_and_a_page_of_messages_are_few_rows(backend: SqliteBackend) -> None:
    await a_line(backend, 300)
    async with Counter(backend) as counter:
        await backend.threads.get_head(KEY)
    assert counter.rows <= 3
    async with Counter(backend) as counter:
        await backend.messages.list_messages(KEY, limit=10, newest_first=True)
        await backend.messages.get_message(KEY, "m150.0")
    assert counter.rows <= 40


async def test_no_query_of_every_day_looks_through_a_table(backend: SqliteBackend) -> None:
    grant = await a_line(backend, 10)
    statements: list[str] = []
    connections = [*backend._opened().readers._busy, backend._opened().writer._connection]  # type: ignore[union-attr]
    for connection in connections:
        await connection.run(lambda opened: opened.set_trace_callback(statements.append))
    write = a_write(grant, 11, messages=(a_message(11),), approvals=(an_approval(11),), request=a_request(11))
    await backend.threads.append(write)
    await fork(backend, grant, 12, 4, void_approvals=True, state=StateChange(replaced={"x": b"1"}))
    await backend.threads.change_info(KEY, InfoChange(name="x"), create=a_thread(KEY), request=None, now_ms=NOW)
    await backend.threads.get_head(KEY)
    await backend.threads.read_log(KEY, UID, after_version=3, limit=9, max_bytes=99999)
    await backend.threads.list_starts(KEY, UID, after_version=3, limit=9)
    await backend.threads.list_interrupted(["support"], after=KEY, limit=9)
    await backend.threads.list_checkpoints(KEY, before_version=None, limit=9)
    await backend.threads.get_state(KEY, version=9)
    await backend.messages.list_messages(KEY, at_version=9)
    for message_id in ("m3.0", "own"):
        await backend.messages.get_message(KEY, message_id)
    for where in (ThreadFilter(), ThreadFilter(user_id="ada")):
        await backend.threads.list_threads("acme", where, by_update=False, after=(NOW, "t"), limit=9)
    await backend.approvals.list_approvals("acme", states=[ApprovalState.PENDING], after=(NOW, "a"))
    await backend.approvals.list_approvals("acme", key=KEY)
    await backend.approvals.list_expired(now_ms=NOW, limit=9)
    await backend.approvals.get_approval("acme", "a")
    await backend.threads.forget_requests(before_ms=NOW)
    await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
    await backend.cache.put_value(VALUE, CachedValue(b"1", NOW))
    await backend.cache.get_value(VALUE, now_ms=NOW)
    await backend.cache.list_keys("acme", "n", prefix="k", after="k", limit=9, now_ms=NOW)
    await backend.cache.forget_expired(now_ms=NOW, limit=9)
    await backend.cache.delete_value(VALUE, now_ms=NOW)
    plans = {sql: await _plan(backend, sql) for sql in statements if re.match("SELECT|INSERT|UPDATE|DELETE", sql)}
    assert len(plans) > 25
    assert {sql: plan for sql, plan in plans.items() if any(_looks_through(step) for step in plan)} == {}


async def test_lists_by_creation_come_from_an_index_in_their_order(backend: SqliteBackend) -> None:
    statements: list[str] = []
    for connection in backend._opened().readers._busy:
        await connection.run(lambda opened: opened.set_trace_callback(statements.append))
    await backend.threads.list_threads("acme", ThreadFilter(), by_update=False, after=(NOW, "t"), limit=9)
    await backend.threads.list_threads("acme", ThreadFilter(user_id="ada"), by_update=False, after=None, limit=9)
    await backend.approvals.list_approvals("acme", states=[ApprovalState.PENDING], after=(NOW, "a"))
    await backend.approvals.list_approvals("acme")
    await backend.approvals.list_expired(now_ms=NOW, limit=9)
    await backend.cache.list_keys("acme", "n", prefix="k", after="k", limit=9, now_ms=NOW)
    for sql in statements:
        if sql.startswith("SELECT"):
            assert "USE TEMP B-TREE FOR ORDER BY" not in " ".join(await _plan(backend, sql)), sql


async def _plan(backend: SqliteBackend, sql: str) -> list[str]:
    (connection, *_) = backend._opened().readers._busy
    return await connection.run(
        lambda opened: [step for *_, step in opened.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()]
    )


def _looks_through(step: str) -> bool:
    # The one row of ownership is no table to look through, and a constant row is none at all. What is in progress is all read when
    # that is what is asked for.
    read_whole = ("CONSTANT ROW", "ownership", "SCAN p")
    return step.startswith("SCAN") and not any(each in step for each in read_whole)


async def test_what_stats_cost_grows_with_the_rows_and_no_faster(backend: SqliteBackend) -> None:
    steps = []
    made = 0
    for threads in (300, 1200):
        for number in range(made, threads):
            grant = await a_grant(backend, ThreadKey("acme", f"t{number}"))
            await backend.threads.append(a_write(grant, messages=(a_message(1),)))
        made = threads
        steps.append(await _steps_of_stats(backend))
    assert steps[1] < 8 * steps[0]


async def _steps_of_stats(backend: SqliteBackend) -> int:
    """What SQLite's machine does for them, in hundreds of its steps."""
    counted = 0

    def count() -> None:
        nonlocal counted
        counted += 1

    async with backend._opened().standing_still() as connection:
        assert connection is not None
        await connection.run(lambda opened: opened.set_progress_handler(count, 100))
    # The connection is lent again.
    await backend.sizes.stats(largest=3)
    return counted
