"""The port's `Cache`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew_storage.records import CachedValue, CacheKey


class Cache(Protocol):
    """Values by namespace and key, each for ever or for a time. To every method a value that has expired is not there.

    Names are compared code point by code point, and no two of them are the same value.
    """

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """Keep a value, in the place of the one that was there."""

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """The value, or None."""

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """Erase the value; True if there was one."""

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """The keys of a namespace that begin with the prefix, in the order of their code points, beyond `after`.

        Every character of the prefix stands for itself.
        """

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """Erase up to `limit` values of any tenant that have expired; how many went."""
