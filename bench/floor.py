"""The floor: a bare loop that makes only the writes such a turn needs (5 records, 4 durable waits), with group commit."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.text import RECORDS

_Row = tuple[str, int, bytes]
_Job = tuple[list[_Row], asyncio.Future[None]]


class Floor:
    """A table of records keyed by thread and version, and one writer that commits whatever waits together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve)
        self._versions: dict[str, int] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._jobs.put(None)
        self._thread.join()

    async def turn(self, thread: str) -> None:
        """One turn: four waits for the disk."""
        for group in RECORDS:
            version = self._versions.get(thread, 0)
            rows = [(thread, version + number, body.encode()) for number, body in enumerate(group, 1)]
            self._versions[thread] = version + len(rows)
            done = self._loop.create_future()
            self._jobs.put((rows, done))
            await done

    def _serve(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(
            "CREATE TABLE records (thread TEXT, version INTEGER, body BLOB, PRIMARY KEY (thread, version)) WITHOUT ROWID"
        )
        while jobs := self._waiting():
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO records VALUES (?, ?, ?)", [row for rows, _ in jobs for row in rows])
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_told, [done for _, done in jobs])
        connection.close()

    def _waiting(self) -> list[_Job]:
        """All that waits, at least one; nothing at the end."""
        first = self._jobs.get()
        if first is None:
            return []
        jobs = [first]
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                self._jobs.put(None)
                break
            jobs.append(job)
        return jobs


def _told(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        future.set_result(None)
