"""The cache in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from clew_storage.memory.tables import Tables
from clew_storage.records import CachedValue, CacheKey


class MemoryCache:
    """Implements the port's `Cache`."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """See the port."""
        self._tables().values[key] = value

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """See the port."""
        found = self._tables().values.get(key)
        return found if found is not None and found.lives(now_ms) else None

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """See the port."""
        found = self._tables().values.pop(key, None)
        return found is not None and found.lives(now_ms)

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """See the port."""
        found = (
            name.key
            for name, value in self._tables().values.items()
            if (name.tenant, name.namespace) == (tenant, namespace)
            and name.key.startswith(prefix)
            and (after is None or name.key > after)
            and value.lives(now_ms)
        )
        return sorted(found)[:limit]

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """See the port."""
        values = self._tables().values
        expired = list(islice((name for name, value in values.items() if not value.lives(now_ms)), limit))
        for name in expired:
            del values[name]
        return len(expired)
