"""The connections of one storage, out of a pool of asyncpg."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias, TypeVar

import asyncpg

from clew_storage.errors import StorageAway, StorageError, StorageUnavailable
from clew_storage.postgres.failures import DRIVER_ERRORS, is_in_the_way, is_lost, is_over, translate, unknown
from clew_storage.postgres.hosts import Hosts
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.settings import PostgresSettings

T = TypeVar("T")
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
_TRIES = 4
_log = logging.getLogger("clew.storage")


class Connections:
    """Lends connections. Those of a pool that was given are returned to it and left to its owner."""

    def __init__(self, settings: PostgresSettings, pool: Pool | None = None) -> None:
        self._settings = settings
        self._given = pool
        self._pool = pool
        self._is_away = False

    async def open(self) -> None:
        """Make the pool and one connection. Raises the driver's errors, for whoever opens to tell what they mean."""
        if self._given is not None:
            return
        settings, hosts = self._settings, Hosts(self._settings.dsn)
        options = dict(settings.connect_options)
        options["server_settings"] = {"application_name": "clew"} | options.get("server_settings", {})
        pooled = settings.pgbouncer
        if pooled is None:
            pooled = await _is_pooled(hosts, timeout=settings.connect_timeout_s, **options)
        if pooled:
            # A statement that was prepared on one connection of the database is unknown to the next.
            options["statement_cache_size"] = 0
        self._pool = await asyncpg.create_pool(
            settings.dsn,
            connect=hosts.connect,
            # With a floor the pool would restore it by itself while the database is away, and log a traceback at each try.
            min_size=0,
            max_size=settings.pool_size,
            timeout=settings.connect_timeout_s,
            command_timeout=settings.command_timeout_s,
            reset=_nothing_to_reset,
            **options,
        )
        try:
            await self._pool.release(await self._pool.acquire())
        except BaseException:
            self.abandon()
            raise

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Connection]:
        """A connection for a while. Cancelling whoever has it breaks off what runs and returns it.

        Raises `StorageUnavailable` where none can be had, and the driver's errors of what was done with it.
        """
        connection = await self.take()
        try:
            yield connection
        except BaseException as error:
            if is_over(error):
                await self.drop(connection)
            raise
        else:
            self.answered()
        finally:
            await self.give_back(connection)

    async def take(self) -> Connection:
        """A connection until it is given back. Raises `StorageAway` where the database is not to be reached."""
        pool = self._pool
        if pool is None:
            raise StorageUnavailable("the storage is not open")
        try:
            connection = await pool.acquire(timeout=self._settings.pool_timeout_s)
        except TimeoutError as error:
            if pool.get_size() >= pool.get_max_size() and not pool.get_idle_size():
                more = "raise pool_size" if self._given is None else "give the pool more"
                raise StorageUnavailable(
                    f"all {pool.get_max_size()} connections to the database are in use; {more}, or try again"
                ) from error
            raise self._unreachable(error) from error
        except DRIVER_ERRORS as error:
            away = is_lost(error) and not pool.is_closing()
            raise (self._unreachable(error) if away else translate(error)) from error
        return connection  # type: ignore[return-value] # a proxy that behaves as one

    def answered(self) -> None:
        """The database did something for us: if it was away, it is back."""
        if self._is_away:
            self._is_away = False
            _log.warning("the database %s is back", self._settings.url)

    async def give_back(self, connection: Connection) -> None:
        """Return a connection; one that is broken is replaced when it is needed."""
        if self._pool is not None:
            with suppress(*DRIVER_ERRORS):
                # asyncpg shields this from cancellation.
                await self._pool.release(connection)  # type: ignore[arg-type]

    async def drop(self, connection: Connection) -> None:
        """A connection was lost, and the idle ones of its age with it, most likely: none of them is used again."""
        with suppress(*DRIVER_ERRORS):
            connection.terminate()
        if self._pool is not None and self._given is None:
            await self._pool.expire_connections()

    async def run(self, work: Callable[[Connection], Awaitable[T]], *, repeatable: bool = True) -> T:
        """Do something in one statement, or read: once more where the connection broke or another transaction was in the way.

        What is not `repeatable` is not done again when its answer was lost; then nobody knows what became of it.
        """
        for left in reversed(range(_TRIES)):
            try:
                async with self.lend() as connection:
                    return await work(connection)
            except StorageError:
                raise
            except DRIVER_ERRORS as error:
                lost = is_lost(error)
                if lost and not repeatable:
                    raise unknown() from error
                if not left or not (lost or is_in_the_way(error)) or isinstance(error, TimeoutError):
                    raise translate(error) from error
        raise AssertionError

    async def close(self) -> None:
        """Close what is our own, after what is under way."""
        pool, self._pool = self._pool, None
        if pool is None or self._given is not None:
            return
        try:
            async with asyncio.timeout(self._settings.connect_timeout_s):
                await pool.close()
        except DRIVER_ERRORS:
            pool.terminate()

    def abandon(self) -> None:
        """Let go of everything at once: the event loop ends."""
        if self._pool is not None and self._given is None:
            self._pool.terminate()

    def _unreachable(self, error: BaseException) -> StorageAway:
        told = str(translate(error))
        if not self._is_away:
            self._is_away = True
            _log.warning("the database %s is away: %s", self._settings.url, told)
        return StorageAway(told)


class StandingConnection:
    """One connection that is kept for one purpose, so that others cannot use it up, and made anew when it is lost."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._connection: Connection | None = None

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do the work once. Raises `StorageUnavailable` when nothing was done, and the driver's errors otherwise."""
        if self._connection is None or not _is_usable(self._connection):
            await self.close()
            self._connection = await self._connections.take()
        connection = self._connection
        try:
            done = await work(connection)
        except BaseException as error:
            if is_over(error):
                await self._connections.drop(connection)
                await self.close()
            raise
        self._connections.answered()
        return done

    async def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._connections.give_back(connection)


def _is_usable(connection: Connection) -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:
        # The pool has taken it back when it broke.
        return False


async def _is_pooled(hosts: Hosts, **options: Any) -> bool:
    """Whether a pooler stands before the database: it greets with a number of its own, and the process that answers has another."""
    connection = await hosts.connect(**options | {"statement_cache_size": 0})
    try:
        return bool(await connection.fetchval("SELECT pg_backend_pid()") != connection.get_server_pid())
    finally:
        connection.terminate()


async def _nothing_to_reset(_: object) -> None:
    """No query of ours leaves anything on a connection, so returning one costs no statement."""
