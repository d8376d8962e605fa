"""Variants of the product with one of its guards taken out, for tests that show that the guard's absence would be seen.

The environment names one; it is put into a process under test and nowhere else. What Postgres itself guards is taken out of its functions.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from clew_engine import attempts, call_outcomes
from clew_engine import storage as engine_storage
from clew_engine.call_desk import encode_outcome
from clew_engine.requests import RequestLog
from clew_storage import (
    CallName,
    CallSight,
    Head,
    OfferedCall,
    RequestRecord,
    Source,
    Status,
    ThreadKey,
    ThreadRecord,
    Write,
    Written,
)
from clew_storage.local_exchange import LocalExchange
from clew_storage.local_leases import LocalLeases
from clew_storage.postgres import connections
from clew_storage.postgres import failures as postgres_failures
from clew_storage.postgres.leases import PostgresLeases
from clew_storage.postgres.threads import PostgresThreads
from clew_storage.sqlite import failures as sqlite_failures
from clew_storage.sqlite.connections import Synchronous
from clew_storage.sqlite.ownership import Ownership
from clew_storage.sqlite.sessions import Session
from clew_storage.sqlite.threads import SqliteThreads
from tests.faults.postgres_schema import PostgresSchema

BROKEN = "CLEW_FAULTS_BROKEN"
THREADS = (SqliteThreads, PostgresThreads)
# Of each variant the functions of the schema, the guards in them, and what comes in their place.
GUARDS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "no fence": (
        (
            "append_1",
            "WHEN in_fenced AND NOT (l.epoch = g.epoch AND l.server = in_server AND l.expires_at > clock_timestamp()) IS TRUE THEN 2",
            "",
        ),
    ),
    "takeover without expiry": (
        ("acquire_1", "IF held.server IS NULL OR held.expires_at <= clock_timestamp() THEN", "IF true THEN"),
    ),
    "no order of tickets": (
        ("pass_on_1", "ORDER BY t.goes_first DESC, t.ticket LIMIT 1", "ORDER BY t.ticket DESC LIMIT 1"),
    ),
    "refused waiters keep tickets": (
        (
            "release_1",
            "DELETE FROM {schema}.tickets t WHERE t.tenant = in_tenant AND t.thread_id = in_thread_id AND t.ticket = in_ticket;",
            "NULL;",
        ),
    ),
    "decided is decided again": (("append_1", "WHEN undecided.index IS NOT NULL THEN 5", ""),),
    "delete leaves messages": (
        (
            "delete_thread_1",
            "DELETE FROM {schema}.messages x WHERE x.tenant = in_tenant AND x.thread_id = in_thread_id;",
            "",
        ),
    ),
}


async def break_schema(schema: PostgresSchema, *variants: str) -> None:
    """Take what these variants lack out of the functions of a schema."""
    for variant in variants:
        for function, guard, instead in GUARDS[variant]:
            await schema.take_out(function, guard.format(schema=f'"{schema.name}"'), instead)


def install() -> None:
    """Take out what the environment names."""
    variant = os.environ.get(BROKEN)
    if variant:
        {
            "no fence": _without_fence,
            "no request record": _without_request_record,
            "result in memory": _with_results_in_memory,
            "decision in memory": lambda: _with_source_in_memory(Source.DECISION),
            "intent in memory": lambda: _with_source_in_memory(Source.INTENT),
            "normal sync": _with_normal_sync,
            "dead connection": _with_a_dead_connection,
            "full is away": _with_a_full_disk_told_as_away,
            "void grants are judged": _with_void_grants_judged,
            "acknowledged too soon": _with_outcomes_in_memory,
            "once is given again": _with_once_given_again,
        }[variant]()


def _with_outcomes_in_memory() -> None:
    """A worker is told that its outcome is durable when it has come."""

    async def finish(storage: Any, worker_id: str, call: CallName, result: Any, **_: Any) -> bool:
        await storage.backend.exchange.finish(worker_id, call, encode_outcome(result))
        storage.desk.hint()
        return False

    call_outcomes.finish = finish


def _with_once_given_again() -> None:
    """What is to be done once goes to the next worker like everything else."""
    take = LocalExchange.offer

    async def careless(exchange: LocalExchange, offer: OfferedCall) -> CallSight:
        return await take(exchange, replace(offer, once=False))

    LocalExchange.offer = careless  # type: ignore[method-assign,assignment]


def _without_fence() -> None:
    """Anyone may open the file, and a write goes to whatever stands there, whoever held the thread since."""

    def take(_database: Path) -> Ownership:
        return Ownership(os.open(os.devnull, os.O_RDONLY))

    def always(*_: object) -> bool:
        return True

    Ownership.take = take  # type: ignore[method-assign,assignment]
    LocalLeases.admits = always  # type: ignore[method-assign,assignment]
    PostgresLeases.holds = PostgresLeases.holds_firmly = always  # type: ignore[method-assign,assignment]
    for backend in THREADS:
        _write_anywhere(backend)


def _write_anywhere(backend: type[SqliteThreads | PostgresThreads]) -> None:
    append = backend.append

    async def unfenced(self: SqliteThreads | PostgresThreads, write: Write) -> Written:
        head = await self.get_head(write.key)
        if head is not None:
            write = moved_onto(head.thread, write)
        return await append(self, write)  # type: ignore[arg-type]

    backend.append = unfenced  # type: ignore[method-assign]


def moved_onto(thread: ThreadRecord, write: Write) -> Write:
    """The write as one that follows whatever the thread has by now."""
    at = thread.head_version
    checkpoint = replace(write.checkpoint, version=at + 1, parent_version=at)
    return replace(write, uid=thread.uid, expected_version=at, checkpoint=checkpoint, info=None)


def _without_request_record() -> None:
    def nothing(_self: RequestLog, _reply: bytes = b"") -> RequestRecord | None:
        return None

    RequestLog.record = nothing  # type: ignore[method-assign,assignment]


def _with_results_in_memory() -> None:
    """What a tool call gave is acknowledged at once, and becomes durable with the thread's next write."""
    for backend in THREADS:
        _write_late(
            backend,
            lambda write: (
                write.checkpoint.source is Source.STEP and bool(write.messages) and write.messages[0].role == "tool"
            ),
        )


def _with_source_in_memory(source: Source) -> None:
    """The same of what a person decided, or of the beginning of a `once` call."""
    for backend in THREADS:
        _write_late(backend, lambda write: write.checkpoint.source is source)


def _write_late(backend: type[SqliteThreads | PostgresThreads], is_late: Callable[[Write], bool]) -> None:
    append = backend.append
    kept: dict[ThreadKey, list[Write]] = {}

    async def late(self: SqliteThreads | PostgresThreads, write: Write) -> Written:
        waiting = kept.setdefault(write.key, [])
        # What stands on it is as late: the write of the call that it let through would else bring it to the disk before any kill.
        if is_late(write) or (waiting and write.checkpoint.status is Status.IN_PROGRESS):
            head = await self.get_head(write.key)
            assert head is not None
            waiting.append(write)
            return Written(replace(head.thread, head_version=write.checkpoint.version), cancel_requested=False)
        for each in waiting:
            await append(self, each)  # type: ignore[arg-type]
        waiting.clear()
        return await append(self, write)  # type: ignore[arg-type]

    backend.append = late  # type: ignore[method-assign]


def _with_normal_sync() -> None:
    open_for_writing = Session.open_for_writing

    async def weak(path: Path | None, _synchronous: Synchronous) -> Session:
        return await open_for_writing(path, "NORMAL")

    Session.open_for_writing = weak  # type: ignore[method-assign,assignment]


def _with_a_dead_connection() -> None:
    """A connection that is kept for one purpose is kept when it is lost."""

    async def kept(self: connections.StandingConnection, work: Callable[[Any], Awaitable[Any]]) -> Any:
        if self._connection is None:
            self._connection = await self._connections.take()
        return await work(self._connection)

    connections.StandingConnection.run = kept  # type: ignore[method-assign]


def _with_a_full_disk_told_as_away() -> None:
    """Callers are told to wait for a database that waits for somebody to make room."""
    for full in (sqlite_failures._FULL, postgres_failures._FULL):
        full.clear()


def _with_void_grants_judged() -> None:
    """Who has a grant looks at the thread late, and judges what is there, whoever may have it by then."""

    def never(*_: object) -> bool:
        return False

    attempts.is_void = engine_storage.is_void = never  # type: ignore[attr-defined,assignment]
    read = PostgresThreads.get_head

    async def late(self: PostgresThreads, key: ThreadKey) -> Head | None:
        await asyncio.sleep(random.uniform(0, 0.2))
        return await read(self, key)

    PostgresThreads.get_head = late  # type: ignore[method-assign]
