"""The one client of Redis that a storage has, and whether Redis answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError, RedisError

from clew_storage.beside import RedisSettings
from clew_storage.errors import StorageFull, StorageRefused, StorageUnavailable
from clew_storage.urls import parts_of

FAILURES = (RedisError, OSError, TimeoutError)
_CONNECT_S = 2.0
_ANSWER_S = 5.0
_ASK_EVERY_S = 1.0
_log = logging.getLogger("clew.storage")


class Link:
    """Asks Redis again and again whether it is there, so that no call has to find out by waiting."""

    def __init__(self, settings: RedisSettings) -> None:
        self._settings = settings
        self._ours = isinstance(settings.connection, str)
        self.client = _client_of(settings.connection)
        if self.client.connection_pool.connection_kwargs.get("decode_responses"):
            raise StorageRefused("the Redis client decodes what it reads; give one without decode_responses")
        self.where = _place_of(self.client)
        self.is_up = False
        self.changed: Callable[[bool], None] = lambda _: None
        self._told: bool | None = None
        self._why: str | None = None
        self._asking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Ask for the first time. A Redis that is not there is logged, and asked again."""
        await self._ask()
        self._asking = asyncio.get_running_loop().create_task(self._ask_again(), name="clew-redis")

    async def close(self) -> None:
        """Stop to ask, and let go of what is ours. Harmless when called twice, or before `open`."""
        asking, self._asking = self._asking, None
        if asking is not None:
            await end(asking)
        self.is_up = False
        if self._ours or self._settings.release_resources:
            with suppress(*FAILURES):
                await self.client.aclose(close_connection_pool=True)

    def move(self) -> None:
        """Go on in another event loop: connections of one that is closed are of no use. Raises StorageRefused for a client that was given."""
        if not self._ours:
            raise StorageRefused(
                "a Redis client that was given cannot be used in another event loop; give a URL instead"
            )
        self._asking = None
        self.client = _client_of(self._settings.connection)

    def lost(self, error: BaseException) -> None:
        """Something that was asked failed: nothing is asked any more until Redis answers again."""
        self.is_up = False
        self._why = told(error)
        if self._told is not False:
            self._told = False
            self.changed(False)
            _log.warning("Redis at %s is away (%s); it is asked for again every second", self.where, told(error))

    @asynccontextmanager
    async def asking(self, timeout_s: float = _ANSWER_S) -> AsyncGenerator[Redis, None]:
        """The client, for a call that takes its answer from Redis alone. Raises StorageUnavailable, at once where Redis is known to be away, or StorageFull."""
        if self._asking is None:
            raise StorageUnavailable("the storage is not open")
        if not self.is_up and self._why is not None:
            raise self._unavailable(self._why)
        try:
            async with asyncio.timeout(timeout_s):
                yield self.client
        except OutOfMemoryError as error:
            raise StorageFull(f"Redis at {self.where}, which has the values of the cache, is full") from error
        except FAILURES as error:
            self.lost(error)
            raise self._unavailable(told(error)) from error

    def _unavailable(self, why: str) -> StorageUnavailable:
        return StorageUnavailable(
            f"Redis at {self.where}, which has the values of the cache, does not answer ({why}); "
            "start it or check the URL, then try again"
        )

    async def _ask_again(self) -> None:
        while True:
            await asyncio.sleep(_ASK_EVERY_S)
            await self._ask()

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(_CONNECT_S):
                await self.client.ping()
        except FAILURES as error:
            self.lost(error)
        else:
            self.is_up = True
            if self._told is False:
                self.changed(True)
                _log.warning("Redis at %s is back", self.where)
            self._told = True


async def end(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and wait for them. A cancel that comes while redis-py connects is lost in it, so that one may not do."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.05)


def told(error: BaseException) -> str:
    """What went wrong, in a line."""
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    return " ".join(str(error).split()) or type(error).__name__


def _client_of(connection: object) -> Redis:
    if isinstance(connection, Redis):
        return connection
    if isinstance(connection, ConnectionPool):
        return Redis(connection_pool=connection)
    if not isinstance(connection, str):
        raise StorageRefused(
            "redis is a URL, a redis.asyncio.Redis, a redis.asyncio.ConnectionPool or RedisSettings of one of these, "
            f"not {type(connection).__name__}"
        )
    if connection.startswith(("redis://", "rediss://")):
        parts_of(connection, "Redis")
    try:
        # A call is made once: whoever asks knows what to do without an answer, and nothing waits for a Redis that is away.
        return Redis.from_url(
            connection,
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=_ANSWER_S,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
        )
    except (ValueError, TypeError) as error:
        raise StorageRefused(
            f"the URL of Redis is not one ({error}); write redis://HOST:PORT/DB, rediss:// for TLS, or unix://PATH"
        ) from error


def _place_of(client: Redis) -> str:
    """Where it is, without a password."""
    known: dict[str, Any] = client.connection_pool.connection_kwargs
    if path := known.get("path"):
        return str(path)
    return f"{known.get('host', 'localhost')}:{known.get('port', 6379)}"
