"""Leases within one process: whoever owns the database hands them out from memory, first come first served."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from clew_storage.errors import LeaseBusy, StorageError, StorageUnavailable, ThreadMissing
from clew_storage.records import Grant, ThreadKey

READS_ONLY = "the storage was opened with mode=ro and takes no writes; ask the server that owns it"


class _Lane:
    """The holder of one thread and those who wait for it. A lane lives only while someone holds the lease."""

    __slots__ = ("first", "grant", "others")

    def __init__(self, grant: Grant) -> None:
        self.grant = grant
        # Dicts are ordered sets here: a waiter in the middle leaves at no cost.
        self.first: dict[asyncio.Future[Grant], str] = {}
        self.others: dict[asyncio.Future[Grant], str] = {}

    def queue(self, *, first: bool) -> dict[asyncio.Future[Grant], str]:
        return self.first if first else self.others


class LocalLeases:
    """Implements the port's `Leases`.

    Epochs come from one counter for all threads, so that nothing need be remembered of a thread that nobody holds.
    """

    def __init__(self) -> None:
        self._epoch = 0
        self._open = False
        self._reads_only = False
        self._lanes: dict[ThreadKey, _Lane] = {}

    async def acquire(self, key: ThreadKey, *, purpose: str, wait_s: float, first: bool = False) -> Grant:
        """See the port."""
        if not self._open:
            raise StorageUnavailable("the storage is not open")
        if self._reads_only:
            raise StorageUnavailable(READS_ONLY)
        lane = self._lanes.get(key)
        if lane is None:
            grant = Grant(key, self.next_epoch(), purpose)
            self._lanes[key] = _Lane(grant)
            return grant
        if wait_s <= 0:
            raise LeaseBusy(_busy(lane, wait_s))
        waiter: asyncio.Future[Grant] = asyncio.get_running_loop().create_future()
        queue = lane.queue(first=first)
        queue[waiter] = purpose
        try:
            # Unlike wait_for, this leaves the future alone: a grant in the very moment the wait ends is seen below.
            await asyncio.wait((waiter,), timeout=wait_s)
        except asyncio.CancelledError:
            self._abandon(waiter, queue)
            raise
        if waiter.done():
            return waiter.result()
        del queue[waiter]
        raise LeaseBusy(_busy(lane, wait_s))

    def _abandon(self, waiter: asyncio.Future[Grant], queue: dict[asyncio.Future[Grant], str]) -> None:
        """A waiter was cancelled: it may have been given the lease, or told of the delete, in the same moment."""
        if not waiter.done():
            del queue[waiter]
        elif waiter.exception() is None:
            self._pass_on(waiter.result())

    def take_free(self, keys: Iterable[ThreadKey], *, purpose: str) -> list[Grant]:
        """The leases of those that nobody holds, for as long as a transaction takes; whoever comes meanwhile waits."""
        taken = []
        for key in keys:
            if key not in self._lanes:
                grant = Grant(key, self.next_epoch(), purpose)
                self._lanes[key] = _Lane(grant)
                taken.append(grant)
        return taken

    async def release(self, grant: Grant) -> None:
        """See the port."""
        self._pass_on(grant)

    def _pass_on(self, grant: Grant) -> None:
        lane = self._lanes.get(grant.key)
        if lane is None or lane.grant != grant:
            return
        queue = lane.first or lane.others
        if not queue:
            del self._lanes[grant.key]
            return
        waiter = next(iter(queue))
        lane.grant = Grant(grant.key, self.next_epoch(), queue.pop(waiter))
        waiter.set_result(lane.grant)

    def holder(self, key: ThreadKey) -> Grant | None:
        """See the port."""
        lane = self._lanes.get(key)
        return lane.grant if lane else None

    def holds(self, grant: Grant) -> bool:
        """See the port."""
        return self.holder(grant.key) == grant

    def holds_firmly(self, grant: Grant) -> bool:
        """See the port: what is held from memory does not run out."""
        return self.holds(grant)

    def queued(self, key: ThreadKey) -> int:
        """See the port."""
        lane = self._lanes.get(key)
        return len(lane.first) + len(lane.others) if lane else 0

    def sees_all(self) -> bool:
        """See the port."""
        return not self._reads_only

    def next_epoch(self) -> int:
        """An epoch larger than all that were granted; a delete takes one for its tombstone."""
        self._epoch += 1
        return self._epoch

    def open(self, *, above: int, reads_only: bool = False) -> None:
        """Begin above every epoch that an earlier owner of the database can have granted; or, where it is only read, grant nothing."""
        self._reads_only = reads_only
        self._epoch = max(self._epoch, above)
        self._lanes.clear()
        self._open = True

    def admits(self, key: ThreadKey, epoch: int) -> bool:
        """Whether a write with this epoch comes from the holder."""
        lane = self._lanes.get(key)
        return lane is not None and lane.grant.epoch == epoch

    def revoke(self, key: ThreadKey) -> None:
        """The thread was deleted: the holder loses the lease, and those who wait learn that the thread is gone."""
        lane = self._lanes.pop(key, None)
        if lane is None:
            return
        _dismiss(lane, ThreadMissing(f"thread {key.thread_id} was deleted"))

    def close(self) -> None:
        """The database closes: whoever waits learns that it will not be served; holders may finish what they began."""
        self._open = False
        for lane in self._lanes.values():
            _dismiss(lane, StorageUnavailable("the storage was closed"))


def _dismiss(lane: _Lane, error: StorageError) -> None:
    for waiter in (*lane.first, *lane.others):
        waiter.set_exception(error)
    lane.first.clear()
    lane.others.clear()


def _busy(lane: _Lane, wait_s: float) -> str:
    waited = f" after waiting {wait_s:g} s" if wait_s > 0 else ""
    return f"a {lane.grant.purpose} holds the thread {lane.grant.key.thread_id}{waited}"
