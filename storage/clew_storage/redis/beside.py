"""Redis as what stands beside a database, and the backend that has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from clew_storage.beside import RedisSettings
from clew_storage.port import Backend, Cache, Retention, Threads
from clew_storage.records import FormatChange
from clew_storage.redis.link import Link
from clew_storage.redis.relay import RedisRelay
from clew_storage.redis.states import CachedRetention, CachedThreads, RedisStates
from clew_storage.redis.values import RedisCache


class RedisBeside:
    """One Redis. It may be away at any time, also when it is opened."""

    def __init__(self, settings: RedisSettings) -> None:
        self.link = Link(settings)
        self.relay = RedisRelay(self.link, settings.prefix)
        self.states = RedisStates(self.link, settings)
        self.cache = RedisCache(self.link, settings.prefix)

    @property
    def is_up(self) -> bool:
        """Whether it answered when it was last asked."""
        return self.link.is_up

    def when_it_changes(self, tell: Callable[[bool], None]) -> None:
        """Have somebody told when it goes away or comes back."""
        self.link.changed = tell

    def around(self, backend: Backend) -> Backend:
        """The backend with its cache here, and the newest large states where servers share it."""
        return cast("Backend", _BackendBesideRedis(backend, self))

    async def open(self, *, among_others: bool) -> None:
        """Begin; with `among_others` there may be servers to talk with."""
        await self.link.open()
        if among_others:
            self.relay.open()

    def move(self) -> None:
        """Forget what belongs to an event loop that is closed."""
        self.link.move()
        self.states.move()

    async def close(self) -> None:
        """End. Harmless when called twice, or before `open`."""
        await self.relay.close()
        await self.states.close()
        await self.link.close()


class _BackendBesideRedis:
    """A backend that is in all things the one inside, but for three of its roles."""

    def __init__(self, inner: Backend, beside: RedisBeside) -> None:
        self._inner = inner
        self._beside = beside
        # A database that this process has for itself is as near as Redis is.
        cached = cast("Threads", CachedThreads(inner.threads, beside.states))
        self._threads = cached if inner.shared else inner.threads
        tidy = cast("Retention", CachedRetention(inner.retention, beside.states))
        self._retention = tidy if inner.shared else inner.retention

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def threads(self) -> Threads:
        """Those of the database; of one that servers share a large state may be read from Redis."""
        return self._threads

    @property
    def retention(self) -> Retention:
        """That of the database; what it deletes goes from Redis too."""
        return self._retention

    @property
    def cache(self) -> Cache:
        """In Redis."""
        return self._beside.cache

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """Open both; only the database may refuse."""
        change = await self._inner.open(wait_s=wait_s)
        await self._beside.open(among_others=self._inner.shared)
        return change

    async def close(self) -> None:
        """Close both."""
        await self._beside.close()
        await self._inner.close()

    async def reopen(self) -> None:
        """Go on in another event loop."""
        await self._inner.reopen()
        self._beside.move()
        await self._beside.open(among_others=self._inner.shared)
