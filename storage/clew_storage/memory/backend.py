"""The memory backend as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from clew_storage.errors import StorageUnavailable
from clew_storage.local_exchange import LocalExchange
from clew_storage.local_leases import LocalLeases
from clew_storage.memory.approvals import MemoryApprovals
from clew_storage.memory.archive import MemoryArchive
from clew_storage.memory.cache import MemoryCache
from clew_storage.memory.messages import MemoryMessages
from clew_storage.memory.retention import MemoryRetention
from clew_storage.memory.sizes import MemorySizes
from clew_storage.memory.tables import Tables
from clew_storage.memory.threads import MemoryThreads
from clew_storage.records import FormatChange


class MemoryBackend:
    """Implements the port's `Backend`; what it holds is gone when it is closed."""

    shared = False

    def __init__(self, url: str = "memory://") -> None:
        self.url = url
        self.place: Mapping[str, str] = {}
        self._tables: Tables | None = None
        self._leases = LocalLeases()
        self._threads = MemoryThreads(self._opened, self._leases)
        self._retention = MemoryRetention(self._opened, self._leases)
        self._messages = MemoryMessages(self._opened)
        self._approvals = MemoryApprovals(self._opened)
        self._cache = MemoryCache(self._opened)
        self._exchange = LocalExchange(lambda: self._tables is not None)
        self._archive = MemoryArchive(self._opened, self._leases)
        self._sizes = MemorySizes(self._opened)

    def _opened(self) -> Tables:
        if self._tables is None:
            raise StorageUnavailable("the storage is not open")
        return self._tables

    @property
    def leases(self) -> LocalLeases:
        """See the port."""
        return self._leases

    @property
    def threads(self) -> MemoryThreads:
        """See the port."""
        return self._threads

    @property
    def retention(self) -> MemoryRetention:
        """See the port."""
        return self._retention

    @property
    def messages(self) -> MemoryMessages:
        """See the port."""
        return self._messages

    @property
    def approvals(self) -> MemoryApprovals:
        """See the port."""
        return self._approvals

    @property
    def cache(self) -> MemoryCache:
        """See the port."""
        return self._cache

    @property
    def exchange(self) -> LocalExchange:
        """See the port."""
        return self._exchange

    @property
    def archive(self) -> MemoryArchive:
        """See the port."""
        return self._archive

    @property
    def sizes(self) -> MemorySizes:
        """See the port."""
        return self._sizes

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """See the port."""
        self._tables = Tables()
        self._leases.open(above=0)
        return FormatChange(0, 0)

    async def close(self) -> None:
        """See the port."""
        self._leases.close()
        self._exchange.clear()
        self._tables = None

    async def reopen(self) -> None:
        """See the port."""
        self._leases.close()
        self._exchange.clear()
        self._leases.open(above=0)

    async def check(self) -> None:
        """See the port."""
        self._opened()
