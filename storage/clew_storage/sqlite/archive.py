"""The port's `Archive` on SQLite."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import partial

from clew_storage.local_leases import LocalLeases
from clew_storage.records import ThreadKey
from clew_storage.sqlite.sessions import Session
from clew_storage.sqlite.whole_threads import list_tenants, pages_of, put_thread
from clew_storage.thread_parts import Part


class SqliteArchive:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session], leases: LocalLeases) -> None:
        self._session = session
        self._leases = leases

    async def list_tenants(self, *, after: str | None, limit: int) -> Sequence[str]:
        """See the port."""
        return await self._session().readers.read(lambda connection: list_tenants(connection, after, limit))

    async def export_thread(self, key: ThreadKey) -> AsyncGenerator[Part, None]:
        """See the port."""
        session = self._session()
        async with session.standing_still() as connection:
            if connection is None:
                for page in await session.readers.read(lambda only: list(pages_of(only, key))):
                    for part in page:
                        yield part
                return
            pages = await connection.run(lambda opened: pages_of(opened, key))
            try:
                while page := await connection.run(lambda _: next(pages, ())):
                    for part in page:
                        yield part
            finally:
                # Its queries end with it, on the thread that they belong to.
                await connection.run(lambda _: pages.close())

    async def import_thread(self, parts: Iterable[Part]) -> None:
        """See the port."""
        await self._session().writer.write(partial(put_thread, parts=parts, next_epoch=self._leases.next_epoch))
