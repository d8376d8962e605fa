"""Figures that are counted: statements a checkpoint, rows a read, bytes a turn, and no query that looks through everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from math import log
from typing import Any, Self

import asyncpg
import pytest

from clew_storage import (
    ApprovalState,
    CachedValue,
    CacheKey,
    Grant,
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
from clew_storage.postgres import PostgresBackend
from clew_storage.postgres.settings import settings_of_url
from tests.support.postgres import a_server, in_schema

VALUE = CacheKey("acme", "n", "k")
TEXT = 200  # bytes of new text in each of a turn's five messages
ENGINE = b'{"calls":[{"id":"call_12_0","name":"look_up_order","state":"done"}]}'


@pytest.fixture
async def backend(postgres_dsn: str) -> AsyncIterator[PostgresBackend]:
    # Without renewals in between, so that every statement that is counted is asked for here. The tables are so small that
    # looking through them would be the best plan; what is wanted to know is whether there is an index for when they are large.
    settings = replace(
        settings_of_url(in_schema(postgres_dsn, lease_s=3600)),
        connect_options={"server_settings": {"enable_seqscan": "off", "enable_bitmapscan": "off"}},
    )
    backend = PostgresBackend(settings)
    await backend.open()
    await asyncio.sleep(0.05)
    yield backend
    await backend.close()


class Statements:
    """What the driver sends meanwhile: the statements with their arguments, and how many rows came back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.sent: list[tuple[str, tuple[Any, ...]]] = []
        self.rows = 0

    def __enter__(self) -> Self:
        execute = asyncpg.Connection._execute  # type: ignore[attr-defined]

        async def counted(connection: Any, query: str, args: Any, *rest: Any, **options: Any) -> Any:
            result = await execute(connection, query, args, *rest, **options)
            self.sent.append((query, tuple(args)))
            self.rows += len(result) if isinstance(result, list) else 0
            return result

        self._monkeypatch.setattr(asyncpg.Connection, "_execute", counted)
        return self

    def __exit__(self, *_: object) -> None:
        self._monkeypatch.undo()


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    return Statements(monkeypatch)


async def rows_read(backend: PostgresBackend, sent: list[tuple[str, tuple[Any, ...]]]) -> int:
    """The rows that the database itself looks at for these statements."""

    def count(node: dict[str, Any]) -> int:
        below: int = sum(map(count, node.get("Plans", ())))
        if "Relation Name" not in node:
            return below
        looked_at: float = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        return below + round(looked_at * float(node["Actual Loops"]))

    async def plan(connection: Any) -> int:
        total: int = 0
        for query, args in sent:
            text = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", *args)
            total += count(json.loads(text)[0]["Plan"])
        return total

    return await backend._opened().read(plan)


async def a_turn(backend: PostgresBackend, grant: Grant, number: int) -> None:
    """A user message, a model step with two calls, two results that end together, a final model step: five checkpoints."""

    def step(at: int, role: str) -> Any:
        version = number * 5 + at + 1
        body = b'{"role":"%s","text":"%s"}' % (role.encode(), b"x" * TEXT)
        request = a_request(version, uid=UID, version=version, reply=b"") if at == 0 else None
        checkpoint = a_checkpoint(
            version,
            run_version=number * 5 + 1,
            status=Status.COMPLETED if at == 4 else Status.IN_PROGRESS,
            source=Source.STEP if at else Source.INPUT,
            step=at,
            body=b"{}" if at == 4 else ENGINE,
        )
        message = MessageRecord(f"m{version}.0", version, version, role, NOW + version, body)
        return backend.threads.append(
            a_write(grant, version, checkpoint=checkpoint, messages=(message,), request=request)
        )

    await step(0, "user")
    await step(1, "assistant")
    await asyncio.gather(step(2, "tool"), step(3, "tool"))
    await step(4, "assistant")


async def test_a_checkpoint_is_one_statement_and_two_that_end_together_share_one(
    backend: PostgresBackend, statements: Statements
) -> None:
    grant = await a_line(backend, 1)
    with statements:
        for version in range(2, 102):
            change = StateChange(replaced={"n": b"%d" % version}, appended={"all": (b"%d" % version,)})
            await backend.threads.append(a_write(grant, version, state=change, messages=(a_message(version),)))
    assert len(statements.sent) == 100
    statements.sent.clear()
    other = await a_grant(backend, ThreadKey("acme", "other"))
    with statements:
        await a_turn(backend, other, 0)
    assert len(statements.sent) == 4


async def test_writes_of_many_threads_that_wait_together_share_a_statement(
    backend: PostgresBackend, statements: Statements
) -> None:
    grants = [await a_grant(backend, ThreadKey("acme", str(number))) for number in range(32)]
    with statements:
        for version in range(1, 6):
            await asyncio.gather(*(backend.threads.append(a_write(grant, version)) for grant in grants))
    assert len(statements.sent) <= 10


@pytest.fixture
async def alone() -> AsyncIterator[PostgresBackend]:
    """On a server of its own, whose log has nothing else in it: on a slow machine a vacuum would come in the middle."""
    with a_server("autovacuum=off") as server:
        backend = PostgresBackend.of_url(in_schema(server.dsn))
        await backend.open()
        yield backend
        await backend.close()


async def test_bytes_and_wal_grow_with_the_text_and_no_faster(alone: PostgresBackend) -> None:
    backend = alone

    async def measure() -> tuple[int, int]:
        schema = backend._opened().schema.name
        row = await backend._opened().read(
            lambda each: each.fetchrow(
                "SELECT sum(pg_total_relation_size(c.oid))::bigint, pg_current_wal_insert_lsn() - '0/0'::pg_lsn "
                "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
                schema,
            )
        )
        assert row is not None
        return row[0], int(row[1])

    empty, wal = await measure()
    wal_now = wal
    sizes = {}
    for number in range(1000):
        grant = await backend.leases.acquire(KEY, purpose="run", wait_s=0)
        await a_turn(backend, grant, number)
        await backend.leases.release(grant)
        if number + 1 in {100, 1000}:
            size, wal_now = await measure()
            sizes[number + 1] = size - empty
    print(f"bytes for a byte of text: {sizes[1000] / (1000 * 5 * TEXT):.2f}; WAL a turn: {(wal_now - wal) / 1000:.0f}")
    assert sizes[1000] / (1000 * 5 * TEXT) <= 3.5
    assert sizes[1000] / sizes[100] <= 11
    assert (wal_now - wal) / 1000 <= 5 * 1024


@pytest.mark.parametrize("length", [8, 64, 100, 511, 512])
async def test_the_newest_state_is_read_from_few_rows_at_any_length(
    backend: PostgresBackend, statements: Statements, length: int
) -> None:
    grant = await a_grant(backend)
    for version in range(1, length + 1):
        change = StateChange(replaced={"n": b"%d" % version}, appended={"all": (b"%d" % version,)})
        await backend.threads.append(a_write(grant, version, state=change))
    with statements:
        state = await backend.threads.get_state(KEY, version=None)
    assert state == {"n": b"%d" % length, "all": b"[" + b",".join(b"%d" % n for n in range(1, length + 1)) + b"]"}
    # One row more is the thread's own.
    assert statements.rows <= 8 * log(length, 8) + 1
    # The newest fold is looked up beside them.
    assert await rows_read(backend, statements.sent) <= 8 * log(length, 8) + 3


async def test_a_writer_that_remembers_nothing_folds_as_one_that_does(backend: PostgresBackend) -> None:
    grant = await a_grant(backend)
    for version in range(1, 200):
        if version % 5 == 0:
            backend._opened().writer._minded.forget(KEY, UID)
        await backend.threads.append(a_write(grant, version, state=StateChange(appended={"all": (b"%d" % version,)})))
    schema = backend._opened().schema
    folds = await backend._opened().read(lambda each: each.fetchval(schema.sql("SELECT count(*) FROM clew.folds")))
    assert folds <= 24
    state = await backend.threads.get_state(KEY, version=None)
    assert state == {"all": b"[" + b",".join(b"%d" % version for version in range(1, 200)) + b"]"}


async def test_twenty_checkpoints_of_history_are_twenty_rows_and_a_few_at_any_length_and_over_many_rewinds(
    backend: PostgresBackend, statements: Statements
) -> None:
    grant = await a_line(backend, 200)
    for version in range(201, 301):
        await fork(backend, grant, version, version - 2 if version % 2 else version - 1)
    with statements:
        assert len(await backend.threads.list_checkpoints(KEY, before_version=None, limit=20)) == 20
    assert statements.rows <= 22
    assert await rows_read(backend, statements.sent) <= 40


async def test_the_head_and_a_page_of_messages_are_few_rows(backend: PostgresBackend, statements: Statements) -> None:
    await a_line(backend, 300)
    with statements:
        await backend.threads.get_head(KEY)
    assert (len(statements.sent), statements.rows) == (1, 1)
    with statements:
        await backend.messages.list_messages(KEY, limit=10, newest_first=True)
        await backend.messages.get_message(KEY, "m150.0")
        await backend.threads.read_log(KEY, UID, after_version=290, limit=5, max_bytes=99999)
    assert statements.rows <= 40
    await _analyze(backend)
    assert await rows_read(backend, statements.sent) <= 60


async def test_a_server_looks_at_all_its_threads_in_one_statement(
    backend: PostgresBackend, statements: Statements
) -> None:
    keys = [ThreadKey("acme", str(number)) for number in range(100)]
    with statements:
        assert len(await backend.threads.glance(keys)) == 100
    assert len(statements.sent) == 1


async def test_what_died_is_found_among_many_threads_by_reading_what_is_in_progress(
    backend: PostgresBackend, statements: Statements
) -> None:
    for number in range(300):
        grant = await a_grant(backend, ThreadKey("acme", f"t{number}"))
        status = Status.COMPLETED if number % 60 else Status.IN_PROGRESS
        await backend.threads.append(a_write(grant, checkpoint=a_checkpoint(status=status)))
        await backend.leases.release(grant)
    await _analyze(backend)
    with statements:
        found = await backend.threads.list_interrupted(["support"], after=None, limit=100)
    assert len(found) == 5
    assert await rows_read(backend, statements.sent) <= 3 * 5


async def test_no_query_of_every_day_looks_through_a_table(backend: PostgresBackend) -> None:
    for number in range(300):
        await backend.threads.append(
            a_write(
                await a_grant(backend, ThreadKey("acme", f"t{number}")),
                messages=(a_message(1),),
                request=a_request(),
                approvals=(an_approval(1, id=f"a{number}", expires_at_ms=NOW + number),),
            )
        )
        await backend.cache.put_value(CacheKey("acme", "n", str(number)), CachedValue(b"1", NOW + 9999 + number))
    await _analyze(backend)
    before = await _scans(backend)
    grant = await a_line(backend, 10)
    write = a_write(grant, 11, messages=(a_message(11),), approvals=(an_approval(11),), request=a_request(11))
    await backend.threads.append(write)
    await fork(backend, grant, 12, 4, void_approvals=True, state=StateChange(replaced={"x": b"1"}))
    await backend.threads.change_info(KEY, InfoChange(name="x"), create=a_thread(KEY), request=None, now_ms=NOW)
    await backend.threads.get_head(KEY)
    await backend.threads.glance([KEY])
    await backend.threads.read_log(KEY, UID, after_version=3, limit=9, max_bytes=99999)
    await backend.threads.list_checkpoints(KEY, before_version=None, limit=9)
    await backend.threads.get_state(KEY, version=9)
    await backend.messages.list_messages(KEY, at_version=9)
    for message_id in ("m3.0", "own"):
        await backend.messages.get_message(KEY, message_id)
    for where in (ThreadFilter(), ThreadFilter(user_id="ada")):
        await backend.threads.list_threads("acme", where, by_update=False, after=(NOW, "t"), limit=9)
    await backend.threads.list_interrupted(["support"], after=KEY, limit=9)
    await backend.approvals.list_approvals("acme", states=[ApprovalState.PENDING], after=(NOW, "a"), limit=9)
    await backend.approvals.list_approvals("acme", key=KEY, limit=9)
    await backend.approvals.list_expired(now_ms=NOW, limit=9)
    await backend.approvals.get_approval("acme", "a7")
    await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
    await backend.cache.get_value(VALUE, now_ms=NOW)
    await backend.cache.list_keys("acme", "n", prefix="1", after="1", limit=9, now_ms=NOW)
    await backend.cache.delete_value(VALUE, now_ms=NOW)
    after = await _scans(backend)
    assert {table: after[table] - before[table] for table in after if after[table] != before[table]} == {}


async def _analyze(backend: PostgresBackend) -> None:
    schema = backend._opened().schema
    tables = (
        "threads",
        "in_progress",
        "checkpoints",
        "messages",
        "approvals",
        "requests",
        "cached_values",
        "leases",
        "folds",
        "state_changes",
    )
    for table in tables:
        await backend._opened().read(lambda each, table=table: each.execute(schema.sql(f"ANALYZE clew.{table}")))  # type: ignore[misc]


async def _scans(backend: PostgresBackend) -> dict[str, int]:
    """How often each table was read from its beginning, once every connection has told what it did."""
    connections = [await backend._opened().connections.take() for _ in range(8)]
    for connection in [*connections, *_standing(backend)]:
        await connection.fetchval("SELECT pg_stat_force_next_flush()")
        await connection.fetchval("SELECT 1")
    rows = await connections[0].fetch(
        "SELECT relname, seq_scan FROM pg_stat_all_tables WHERE schemaname = $1 AND relname NOT IN ('formats', 'tickets')",
        backend._opened().schema.name,
    )
    for connection in connections:
        await backend._opened().connections.give_back(connection)
    return {row["relname"]: row["seq_scan"] for row in rows}


def _standing(backend: PostgresBackend) -> list[Any]:
    session = backend._opened()
    kept = (session.writer._connection._connection, session.keeper._connection._connection)
    return [connection for connection in kept if connection is not None]
