"""Values of the cache, and their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The name of a value in the cache. Namespace and key are any text that UTF-8 can hold, NUL included."""

    tenant: str
    namespace: str
    key: str


@dataclass(frozen=True, slots=True)
class CachedValue:
    """A value of the cache: JSON as sent. From `expires_at_ms` on it is gone; None: it never expires."""

    value: bytes
    expires_at_ms: int | None = None

    def lives(self, now_ms: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at_ms is None or self.expires_at_ms > now_ms
