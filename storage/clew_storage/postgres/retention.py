"""The port's `Retention` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from clew_storage.postgres import deletions, idle_threads, lease_rows, trims
from clew_storage.postgres.sessions import Session
from clew_storage.records import IdleFilter, ThreadKey, ThreadRecord, Trim


class PostgresRetention:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def list_idle(self, where: IdleFilter, *, after: ThreadKey | None, limit: int) -> Sequence[ThreadRecord]:
        """See the port."""
        found: list[ThreadRecord] = []
        while len(found) < limit:
            session = self._session()
            part, after = await session.read(
                partial(idle_threads.list_idle, schema=session.schema, where=where, after=after)
            )
            found += part
            if after is None:
                break
        return found[:limit]

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: deletions.delete_idle(connection, session.schema, threads, now_ms=now_ms)
        )

    async def trim_thread(self, trim: Trim) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(lambda connection: trims.trim_thread(connection, session.schema, trim))

    async def forget_leases(self, *, after: ThreadKey | None, limit: int) -> tuple[int, ThreadKey | None]:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: lease_rows.forget_idle(connection, session.schema, after, limit), repeatable=True
        )
