"""The port's `Archive`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Protocol

from clew_storage.records import ThreadKey
from clew_storage.thread_parts import Part


class Archive(Protocol):
    """Threads as a whole, for those who keep them elsewhere or move them to another database."""

    async def list_tenants(self, *, after: str | None, limit: int) -> Sequence[str]:
        """The tenants that have threads, in the order of their code points, beyond `after`."""

    def export_thread(self, key: ThreadKey) -> AsyncGenerator[Part, None]:
        """Everything of a thread, in the order of `Part`, as it stood at one moment, the first time it is asked for.

        That is: the thread, every checkpoint of whatever line with its messages and its change of the state, approvals in
        whatever state, and the requests of its id. Needs memory for a part of a large thread at a time, holds nobody up, and
        is to be closed. Raises `ThreadMissing` where there is no thread.
        """

    async def import_thread(self, parts: Iterable[Part]) -> None:
        """Make a thread of what `export_thread` gave, of whatever backend: every read of the port finds the same.

        All or nothing; what `parts` raises leaves no trace either. They may be gone through more than once. Takes no lease.
        The thread's epoch is the database's own, a new one that is larger than every epoch before, so that what is remembered
        of a thread that was deleted is not taken for it; requests that the id has already stay as they are. Raises
        `ThreadExists`.
        """
