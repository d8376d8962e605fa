"""The port's `Leases`."""

from __future__ import annotations

from typing import Protocol

from clew_storage.records import Grant, ThreadKey


class Leases(Protocol):
    """Who may write to a thread: one at a time, first come first served."""

    async def acquire(self, key: ThreadKey, *, purpose: str, wait_s: float, first: bool = False) -> Grant:
        """Wait up to `wait_s` seconds (0: not at all) for the lease. A database that is only read has none to give (`StorageUnavailable`).

        Waiters are served in the order they came, those with `first` before the others. `purpose` is `run` or `write`.
        The thread need not exist. The grant's epoch is larger than every epoch granted or written before for the thread.
        Raises `LeaseBusy` when the time is over, and `ThreadMissing` when the thread is deleted while the call waits. A
        cancelled call leaves no waiter and no grant behind.
        """

    async def release(self, grant: Grant) -> None:
        """Give the lease to the next waiter. Releasing a grant that is not the current one does nothing."""

    def holder(self, key: ThreadKey) -> Grant | None:
        """The grant of this process that holds the thread now, or None. `Threads.glance` tells of other servers."""

    def holds(self, grant: Grant) -> bool:
        """Whether the grant is still the current one. Once False it stays so: also a lease that ran out is lost for good."""

    def holds_firmly(self, grant: Grant) -> bool:
        """Whether the grant is the current one and sure to stay so for a while; what has effects outside is begun only then."""

    def queued(self, key: ThreadKey) -> int:
        """How many wait in this process."""

    def sees_all(self) -> bool:
        """Whether it can be known who holds a thread: False where the database is only read, for another may own it."""
