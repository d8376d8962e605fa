"""The Postgres backend as a whole."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping

from clew_storage.errors import StorageRefused, StorageUnavailable
from clew_storage.postgres.archive import PostgresArchive
from clew_storage.postgres.cache import PostgresCache
from clew_storage.postgres.connections import Pool
from clew_storage.postgres.exchange import PostgresExchange
from clew_storage.postgres.inbox import PostgresApprovals
from clew_storage.postgres.leases import PostgresLeases
from clew_storage.postgres.messages import PostgresMessages
from clew_storage.postgres.retention import PostgresRetention
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.sessions import Session
from clew_storage.postgres.settings import LEAST_POOL, PostgresSettings, settings_of_url
from clew_storage.postgres.sizes import PostgresSizes
from clew_storage.postgres.threads import PostgresThreads
from clew_storage.records import FormatChange


class PostgresBackend:
    """Implements the port's `Backend` on a schema of a Postgres database, which any number of servers share.

    `settings` say where it is; a `pool` of asyncpg is used in the place of connections of our own, and stays its owner's
    to close: it must have connections to spare for one that writes and one that keeps leases, and where a pooler in
    transaction mode is behind it, `statement_cache_size=0`. With `min_size=0` it logs nothing of its own while the database
    is away.
    """

    shared = True

    def __init__(self, settings: PostgresSettings, *, pool: Pool | None = None) -> None:
        if pool is not None and pool.get_max_size() < LEAST_POOL:
            raise StorageRefused(
                f"the pool has {pool.get_max_size()} connections at most; it takes {LEAST_POOL} at least: to write, to keep leases, to read"
            )
        self.url = settings.url
        self.place: Mapping[str, str] = {"schema": settings.schema}
        self._settings = settings
        self._schema = Schema(settings.schema)
        self._pool = pool
        self._server = secrets.token_hex(8)
        self._session: Session | None = None
        self._leases = PostgresLeases()
        self._threads = PostgresThreads(self._opened, self._leases)
        self._retention = PostgresRetention(self._opened)
        self._messages = PostgresMessages(self._opened)
        self._approvals = PostgresApprovals(self._opened)
        self._cache = PostgresCache(self._opened)
        self._exchange = PostgresExchange(self._opened)
        self._archive = PostgresArchive(self._opened)
        self._sizes = PostgresSizes(self._opened)

    @classmethod
    def of_url(cls, url: str) -> PostgresBackend:
        """The backend of a URL: `postgresql://USER@HOST/DATABASE`, with settings as its options."""
        return cls(settings_of_url(url))

    def _opened(self) -> Session:
        if self._session is None:
            raise StorageUnavailable("the storage is not open")
        return self._session

    @property
    def leases(self) -> PostgresLeases:
        """See the port."""
        return self._leases

    @property
    def threads(self) -> PostgresThreads:
        """See the port."""
        return self._threads

    @property
    def retention(self) -> PostgresRetention:
        """See the port."""
        return self._retention

    @property
    def messages(self) -> PostgresMessages:
        """See the port."""
        return self._messages

    @property
    def approvals(self) -> PostgresApprovals:
        """See the port."""
        return self._approvals

    @property
    def cache(self) -> PostgresCache:
        """See the port."""
        return self._cache

    @property
    def exchange(self) -> PostgresExchange:
        """See the port."""
        return self._exchange

    @property
    def archive(self) -> PostgresArchive:
        """See the port."""
        return self._archive

    @property
    def sizes(self) -> PostgresSizes:
        """See the port."""
        return self._sizes

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """See the port."""
        if self._session is not None:
            raise StorageRefused(f"{self.url} is open already")
        self._session = await Session.open(
            self._settings, self._schema, self._pool, self._leases, self._server, wait_s=wait_s
        )
        return self._session.change

    async def close(self) -> None:
        """See the port."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def reopen(self) -> None:
        """See the port."""
        if self._pool is not None:
            raise StorageRefused("a pool that was given cannot be used in another event loop; give a DSN instead")
        left = self._leases.leave_behind()
        self._session = None
        await self.open()
        await asyncio.gather(*map(self._leases.free, left))

    async def check(self) -> None:
        """See the port."""
        await self._opened().check()
