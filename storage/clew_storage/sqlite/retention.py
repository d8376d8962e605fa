"""The port's `Retention` on SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from clew_storage.local_leases import LocalLeases
from clew_storage.records import Grant, IdleFilter, ThreadKey, ThreadRecord, Trim
from clew_storage.sqlite import deletions, idle_threads, trims
from clew_storage.sqlite.sessions import Session

_PURPOSE = "sweep of what is old"
T = TypeVar("T")


class SqliteRetention:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session], leases: LocalLeases) -> None:
        self._session = session
        self._leases = leases

    async def list_idle(self, where: IdleFilter, *, after: ThreadKey | None, limit: int) -> Sequence[ThreadRecord]:
        """See the port."""
        found: list[ThreadRecord] = []
        while len(found) < limit:
            part, after = await self._session().readers.read(partial(idle_threads.list_idle, where=where, after=after))
            found += (record for record in part if self._leases.holder(record.key) is None)
            if after is None:
                break
        return found[:limit]

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """See the port."""
        taken: list[Grant] = []

        def step() -> Callable[..., list[ThreadKey]]:
            taken.extend(self._leases.take_free([thread.key for thread in threads], purpose=_PURPOSE))
            free = {grant.key for grant in taken}
            return partial(
                deletions.delete_idle,
                threads=[thread for thread in threads if thread.key in free],
                now_ms=now_ms,
                epoch=self._leases.next_epoch(),
            )

        return await asyncio.shield(self._written(step, taken))

    async def trim_thread(self, trim: Trim) -> bool:
        """See the port."""
        taken: list[Grant] = []

        def step() -> Callable[..., bool]:
            taken.extend(self._leases.take_free([trim.key], purpose=_PURPOSE))
            return partial(trims.trim_thread, trim=trim) if taken else lambda _: False

        return await asyncio.shield(self._written(step, taken))

    async def _written(self, step: Callable[[], Callable[[Any], T]], taken: list[Grant]) -> T:
        try:
            return await self._session().writer.write_prepared(step)
        finally:
            for grant in taken:
                await self._leases.release(grant)

    async def forget_leases(self, *, after: ThreadKey | None, limit: int) -> tuple[int, ThreadKey | None]:
        """See the port: nothing is kept of a lease that nobody holds."""
        self._session()
        return 0, None
