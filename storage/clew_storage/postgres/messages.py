"""The port's `Messages` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.postgres import transcripts
from clew_storage.postgres.sessions import Session
from clew_storage.records import MessageRecord, ThreadKey


class PostgresMessages:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def list_messages(
        self,
        key: ThreadKey,
        *,
        at_version: int | None = None,
        after_position: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[MessageRecord]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: transcripts.list_messages(
                connection,
                session.schema,
                key,
                at_version=at_version,
                after_position=after_position,
                limit=limit,
                newest_first=newest_first,
            )
        )

    async def get_message(self, key: ThreadKey, message_id: str) -> MessageRecord | None:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: transcripts.get_message(connection, session.schema, key, message_id)
        )

    async def known_ids(self, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: transcripts.known_ids(connection, session.schema, key, ids))
