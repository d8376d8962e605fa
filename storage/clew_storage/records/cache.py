"""Values of the cache, and their names."""

from __future__ import annotations

from msgspec import Struct


class CacheKey(Struct, frozen=True):
    """The name of a value in the cache. Namespace and key are any text that UTF-8 can hold, NUL included."""

    tenant: str
    namespace: str
    key: str


class CachedValue(Struct, frozen=True):
    """A value of the cache: JSON as sent. From `expires_at_ms` on it is gone; None: it never expires."""

    value: bytes
    expires_at_ms: int | None = None

    def lives(self, now_ms: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at_ms is None or self.expires_at_ms > now_ms
