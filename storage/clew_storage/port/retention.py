"""The port's `Retention`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew_storage.records import IdleFilter, ThreadKey, ThreadRecord, Trim


class Retention(Protocol):
    """What goes when its time is over: threads that nobody uses, and checkpoints that nobody goes back to."""

    async def list_idle(self, where: IdleFilter, *, after: ThreadKey | None, limit: int) -> Sequence[ThreadRecord]:
        """Threads of every tenant that have a checkpoint and that nobody holds or waits for on whatever server, by tenant and id.

        Those beyond `after`, at most `limit`; fewer only where there are no more. However many threads have to be looked
        at, nobody else is held up by it.
        """

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """Erase those of the threads that are as `list_idle` gave them, in one transaction; the names of those that went.

        One stays that was written to or changed since (its uid, head or `updated_at_ms` is another), that somebody holds or
        waits for, or that has a pending approval. Each of the others leaves what `delete_thread` leaves. Who asks for a
        thread's lease meanwhile waits, and gets it when the thread is gone.
        """

    async def trim_thread(self, trim: Trim) -> bool:
        """Erase what a thread's line has below `trim.oldest_version`, and all that is on other lines; False, and nothing done, where it may not be.

        It may not be where the thread's uid or head is another, somebody holds or waits for it, or the version is not on the
        head's line or not above the oldest that is stored. What stays reads as before: the state at every checkpoint that is
        left, and its messages, also those of versions below (but for what an edit had replaced by then). Of approvals stay
        those that are pending, that checkpoints on the line ask from the oldest on, and that the run of the oldest asked.
        Requests stay. It is no write: neither the version nor `updated_at_ms` changes.
        """

    async def forget_leases(self, *, after: ThreadKey | None, limit: int) -> tuple[int, ThreadKey | None]:
        """Forget what is kept of leases that nobody holds or waits for, on threads that do not exist.

        Looks at `limit` of them beyond `after`, by tenant and id; how many went, and where to go on (None: that was all).
        Epochs go on growing all the same.
        """
