"""The port's `Backend`, which has all the other roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from clew_storage.port.approvals import Approvals
from clew_storage.port.archive import Archive
from clew_storage.port.cache import Cache
from clew_storage.port.exchange import Exchange
from clew_storage.port.leases import Leases
from clew_storage.port.messages import Messages
from clew_storage.port.retention import Retention
from clew_storage.port.sizes import Sizes
from clew_storage.port.threads import Threads
from clew_storage.records import FormatChange


class Backend(Protocol):
    """One database."""

    url: str
    """As it may be shown: without a password."""
    shared: bool
    """Whether other processes may write to the database while this one does."""

    @property
    def place(self) -> Mapping[str, str]:
        """What the URL may leave open: the `file` with its whole path, or the `schema`. Nothing for a database in memory."""
        ...

    @property
    def leases(self) -> Leases:
        """Who may write."""
        ...

    @property
    def threads(self) -> Threads:
        """Threads and their logs."""
        ...

    @property
    def retention(self) -> Retention:
        """What may go."""
        ...

    @property
    def messages(self) -> Messages:
        """Transcripts."""
        ...

    @property
    def approvals(self) -> Approvals:
        """Questions to people."""
        ...

    @property
    def cache(self) -> Cache:
        """Values for a time."""
        ...

    @property
    def exchange(self) -> Exchange:
        """Tool calls for workers."""
        ...

    @property
    def archive(self) -> Archive:
        """Threads as a whole."""
        ...

    @property
    def sizes(self) -> Sizes:
        """How much there is."""
        ...

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """Take ownership, bring the format up to date (which it tells) and be ready; may be called once.

        `wait_s`: how long another's migration is waited for, by a backend that waits for one (None: as it does by itself).
        Raises `StorageRefused` (`StorageInUse` where another process owns the database) and says why.
        """

    async def close(self) -> None:
        """Finish what was begun, release ownership. Whoever waits for a lease gets `StorageUnavailable`.

        Harmless when called twice, or before `open`.
        """

    async def reopen(self) -> None:
        """Go on in another event loop, after the one that it was opened in is closed and its tasks are gone.

        What was committed is kept, also in memory; leases that were held are free.
        """

    async def check(self) -> None:
        """Cheap proof that reads and writes would work now; raises what they would raise."""
