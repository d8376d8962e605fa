"""The port's `Cache` on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.records import CachedValue, CacheKey
from clew_storage.sqlite import cached_values
from clew_storage.sqlite.sessions import Session


class SqliteCache:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """See the port."""
        await self._session().writer.write(lambda connection: cached_values.put_value(connection, key, value))

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """See the port."""
        return await self._session().readers.read(lambda connection: cached_values.get_value(connection, key, now_ms))

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """See the port."""
        return await self._session().writer.write(
            lambda connection: cached_values.delete_value(connection, key, now_ms)
        )

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: cached_values.list_keys(
                connection, tenant, namespace, prefix=prefix, after=after, limit=limit, now_ms=now_ms
            )
        )

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """See the port."""
        return await self._session().writer.write(
            lambda connection: cached_values.forget_expired(connection, now_ms, limit)
        )
