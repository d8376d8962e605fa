"""Variants of the product with one of its guards taken out, for tests that show that the guard's absence would be seen.

The environment names one; it is put into a process under test and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from clew_engine.requests import RequestLog
from clew_storage import RequestRecord, Source, ThreadKey, Write, Written
from clew_storage.local_leases import LocalLeases
from clew_storage.postgres import connections, failures
from clew_storage.sqlite.connections import Synchronous
from clew_storage.sqlite.ownership import Ownership
from clew_storage.sqlite.sessions import Session
from clew_storage.sqlite.threads import SqliteThreads

BROKEN = "CLEW_FAULTS_BROKEN"


def install() -> None:
    """Take out what the environment names."""
    variant = os.environ.get(BROKEN)
    if variant:
        {
            "no fence": without_fence,
            "no request record": _without_request_record,
            "result in memory": _with_results_in_memory,
            "normal sync": _with_normal_sync,
            "dead connection": _with_a_dead_connection,
            "full is away": _with_a_full_disk_told_as_away,
        }[variant]()


def without_fence() -> None:
    """Anyone may open the file, and a write goes to whatever stands there, whoever held the thread since."""
    append = SqliteThreads.append

    def take(_database: Path) -> Ownership:
        return Ownership(os.open(os.devnull, os.O_RDONLY))

    async def unfenced(self: SqliteThreads, write: Write) -> Written:
        head = await self.get_head(write.key)
        if head is not None:
            at = head.thread.head_version
            moved = replace(write.checkpoint, version=at + 1, parent_version=at)
            write = replace(write, uid=head.thread.uid, expected_version=at, checkpoint=moved, info=None)
        return await append(self, write)

    def admits(_self: LocalLeases, _key: ThreadKey, _epoch: int) -> bool:
        return True

    Ownership.take = take  # type: ignore[method-assign,assignment]
    SqliteThreads.append = unfenced  # type: ignore[method-assign]
    LocalLeases.admits = admits  # type: ignore[method-assign,assignment]


def _without_request_record() -> None:
    def nothing(_self: RequestLog, _reply: bytes = b"") -> RequestRecord | None:
        return None

    RequestLog.record = nothing  # type: ignore[method-assign,assignment]


def _with_results_in_memory() -> None:
    """What a tool call gave is acknowledged at once, and becomes durable with the thread's next write."""
    append = SqliteThreads.append
    kept: dict[ThreadKey, list[Write]] = {}

    async def late(self: SqliteThreads, write: Write) -> Written:
        waiting = kept.setdefault(write.key, [])
        is_result = write.checkpoint.source is Source.STEP and write.messages and write.messages[0].role == "tool"
        if is_result:
            head = await self.get_head(write.key)
            assert head is not None
            waiting.append(write)
            return Written(replace(head.thread, head_version=write.checkpoint.version), cancel_requested=False)
        for each in waiting:
            await append(self, each)
        waiting.clear()
        return await append(self, write)

    SqliteThreads.append = late  # type: ignore[method-assign]


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
    failures._FULL.clear()
