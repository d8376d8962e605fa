"""The port's `Cache` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.postgres import cached_values
from clew_storage.postgres.sessions import Session
from clew_storage.records import CachedValue, CacheKey


class PostgresCache:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """See the port."""
        session = self._session()
        await session.write(lambda connection: cached_values.put_value(connection, session.schema, key, value))

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: cached_values.get_value(connection, session.schema, key, now_ms))

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: cached_values.delete_value(connection, session.schema, key, now_ms)
        )

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: cached_values.list_keys(
                connection, session.schema, tenant, namespace, prefix=prefix, after=after, limit=limit, now_ms=now_ms
            )
        )

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """See the port."""
        session = self._session()
        return await session.write(
            lambda connection: cached_values.forget_expired(connection, session.schema, now_ms, limit)
        )
