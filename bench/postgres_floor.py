"""The floor on Postgres: the same bare loop, with two connections that each write whatever waits in one statement."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

import asyncpg

from bench.text import RECORDS

_TABLE = "CREATE TABLE records (thread text, version integer, body bytea, PRIMARY KEY (thread, version))"
_INSERT = "INSERT INTO records SELECT * FROM unnest($1::text[], $2::integer[], $3::bytea[])"
_CONNECTIONS = 2

_Row = tuple[str, int, bytes]
_Job = tuple[list[_Row], asyncio.Future[None]]


class PostgresFloor:
    """A table of records keyed by thread and version, in an empty database."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._writers: list[asyncio.Task[None]] = []
        self._connections: list[asyncpg.Connection[asyncpg.Record]] = []
        self._versions: dict[str, int] = {}

    async def __aenter__(self) -> Self:
        self._connections = [await asyncpg.connect(self._dsn) for _ in range(_CONNECTIONS)]
        await self._connections[0].execute(_TABLE)
        self._writers = [asyncio.create_task(self._serve(each)) for each in self._connections]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._writers:
            writer.cancel()
        await asyncio.gather(*self._writers, return_exceptions=True)
        for connection in self._connections:
            await connection.close()

    async def turn(self, thread: str) -> None:
        """One turn: four waits for the disk."""
        for group in RECORDS:
            version = self._versions.get(thread, 0)
            rows = [(thread, version + number, body.encode()) for number, body in enumerate(group, 1)]
            self._versions[thread] = version + len(rows)
            done = asyncio.get_running_loop().create_future()
            self._jobs.put_nowait((rows, done))
            await done

    async def _serve(self, connection: asyncpg.Connection[asyncpg.Record]) -> None:
        while True:
            jobs = [await self._jobs.get()]
            while not self._jobs.empty():
                jobs.append(self._jobs.get_nowait())
            columns = zip(*(row for rows, _ in jobs for row in rows), strict=True)
            await connection.execute(_INSERT, *map(list, columns))
            for _, done in jobs:
                done.set_result(None)
