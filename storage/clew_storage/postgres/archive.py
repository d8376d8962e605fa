"""The port's `Archive` on Postgres."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from clew_storage.errors import StorageUnavailable
from clew_storage.postgres.failures import AnswerLost
from clew_storage.postgres.sessions import Session
from clew_storage.postgres.thread_exports import list_tenants, pages_of
from clew_storage.postgres.thread_imports import put_thread
from clew_storage.records import ThreadKey
from clew_storage.thread_parts import Part


class PostgresArchive:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def list_tenants(self, *, after: str | None, limit: int) -> Sequence[str]:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: list_tenants(connection, session.schema, after, limit))

    async def export_thread(self, key: ThreadKey) -> AsyncGenerator[Part, None]:
        """See the port."""
        session = self._session()
        async with session.standing_still() as connection:
            async for page in pages_of(connection, session.schema, key):
                for part in page:
                    yield part

    async def import_thread(self, parts: Iterable[Part]) -> None:
        """See the port."""
        session = self._session()
        try:
            await session.write(lambda connection: put_thread(connection, session.schema, parts))
        except AnswerLost as error:
            # Whoever asks again after a lost answer finds the thread there.
            raise StorageUnavailable(
                "the connection to the database broke while a thread was being imported: it is there whole, or not at all; ask for the "
                "import again, which skips what is there"
            ) from error.__cause__
