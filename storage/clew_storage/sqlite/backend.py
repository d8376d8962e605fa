"""The SQLite backend as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clew_storage.errors import StorageRefused, StorageUnavailable
from clew_storage.local_exchange import LocalExchange
from clew_storage.local_leases import LocalLeases
from clew_storage.records import FormatChange
from clew_storage.sqlite.archive import SqliteArchive
from clew_storage.sqlite.cache import SqliteCache
from clew_storage.sqlite.connections import Synchronous
from clew_storage.sqlite.database_files import check_file
from clew_storage.sqlite.inbox import SqliteApprovals
from clew_storage.sqlite.messages import SqliteMessages
from clew_storage.sqlite.retention import SqliteRetention
from clew_storage.sqlite.sessions import Session
from clew_storage.sqlite.sizes import SqliteSizes
from clew_storage.sqlite.threads import SqliteThreads

# Epochs of one ownership of the file; the next one begins above them all.
_EPOCHS = 32


class SqliteBackend:
    """Implements the port's `Backend` on one file, or on a database in memory where `path` is None.

    `synchronous` is out of the URL's reach: anything but FULL loses acknowledged writes in a power cut, and is there so
    that a test can show it.
    """

    shared = False

    def __init__(
        self,
        path: Path | None,
        *,
        url: str,
        read_only: bool = False,
        may_make: bool = True,
        allow_network_fs: bool = False,
        synchronous: Synchronous = "FULL",
    ) -> None:
        self.url = url
        self._path = path
        self._read_only = read_only
        self._may_make = may_make and not read_only
        self._allow_network_fs = allow_network_fs
        self._synchronous = synchronous
        self._session: Session | None = None
        self._leases = LocalLeases()
        self._threads = SqliteThreads(self._opened, self._leases)
        self._retention = SqliteRetention(self._opened, self._leases)
        self._messages = SqliteMessages(self._opened)
        self._approvals = SqliteApprovals(self._opened)
        self._cache = SqliteCache(self._opened)
        self._exchange = LocalExchange(lambda: self._session is not None)
        self._archive = SqliteArchive(self._opened, self._leases)
        self._sizes = SqliteSizes(self._opened)

    def _opened(self) -> Session:
        if self._session is None:
            raise StorageUnavailable("the storage is not open")
        return self._session

    @property
    def place(self) -> Mapping[str, str]:
        """See the port."""
        return {} if self._path is None else {"file": str(self._path.resolve())}

    @property
    def leases(self) -> LocalLeases:
        """See the port."""
        return self._leases

    @property
    def threads(self) -> SqliteThreads:
        """See the port."""
        return self._threads

    @property
    def retention(self) -> SqliteRetention:
        """See the port."""
        return self._retention

    @property
    def messages(self) -> SqliteMessages:
        """See the port."""
        return self._messages

    @property
    def approvals(self) -> SqliteApprovals:
        """See the port."""
        return self._approvals

    @property
    def cache(self) -> SqliteCache:
        """See the port."""
        return self._cache

    @property
    def exchange(self) -> LocalExchange:
        """See the port."""
        return self._exchange

    @property
    def archive(self) -> SqliteArchive:
        """See the port."""
        return self._archive

    @property
    def sizes(self) -> SqliteSizes:
        """See the port."""
        return self._sizes

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """See the port."""
        if self._session is not None:
            raise StorageRefused(f"{self.url} is open already")
        if self._path is not None:
            # One database has one lock, by whatever links it is named.
            self._path = self._path.resolve()
            check_file(
                self._path,
                read_only=self._read_only,
                may_make=self._may_make,
                allow_network_fs=self._allow_network_fs,
            )
        if self._read_only and self._path is not None:
            self._session = await Session.open_for_reading(self._path)
        else:
            self._session = await Session.open_for_writing(self._path, self._synchronous)
        self._leases.open(above=self._session.generation << _EPOCHS, reads_only=self._read_only)
        return self._session.change

    async def close(self) -> None:
        """See the port."""
        self._leases.close()
        self._exchange.clear()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def reopen(self) -> None:
        """See the port."""
        if self._path is None:
            # A database in memory is its connection: that stays, with a writer of the new loop.
            assert self._session is not None
            self._session.take_over()
            self._leases.close()
            self._exchange.clear()
            self._leases.open(above=0)
            return
        await self.close()
        await self.open()

    async def check(self) -> None:
        """See the port."""
        session = self._opened()
        await session.readers.read(lambda connection: connection.execute("SELECT 1").fetchone())
        await session.writer.check()
