"""Who waits for a thread in this process: a ticket in the database, and a future here."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from clew_storage.errors import StorageError
from clew_storage.records import Grant, ThreadKey


@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in the queue of a thread."""

    key: ThreadKey
    number: int


class PlaceLostError(StorageError):
    """The database has neither the ticket nor its grant any more.

    This server was not heard of for a term, or the thread was deleted between the grant and the news of it, or the database crashed.
    """


@dataclass(slots=True)
class WaitingRoom:
    """The futures of those who wait, by ticket."""

    waiters: dict[ThreadKey, dict[int, asyncio.Future[Grant]]] = field(default_factory=dict)
    # Grants whose ticket came over another connection than the news of it, which was faster.
    early: dict[int, tuple[Grant, float]] = field(default_factory=dict)
    # Those whose ticket is on its way: of one thread one at a time, so that they stand in the queue as they came.
    asking: Counter[ThreadKey] = field(default_factory=Counter)
    turns: dict[ThreadKey, asyncio.Lock] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.waiters.values()))

    def tickets(self) -> list[Ticket]:
        """All of them."""
        return [Ticket(key, number) for key, waiters in self.waiters.items() for number in waiters]

    def queued(self, key: ThreadKey) -> int:
        """How many wait for a thread."""
        return len(self.waiters.get(key, ())) + self.asking[key]

    def enter(self, ticket: Ticket) -> asyncio.Future[Grant]:
        """Wait: the future ends with the grant, or with the reason why there is none."""
        waiter: asyncio.Future[Grant] = asyncio.get_running_loop().create_future()
        # Nobody may be left to ask.
        waiter.add_done_callback(lambda future: future.cancelled() or future.exception())
        self.waiters.setdefault(ticket.key, {})[ticket.number] = waiter
        return waiter

    def leave(self, ticket: Ticket) -> asyncio.Future[Grant] | None:
        """Wait no longer; None for one who was served."""
        waiters = self.waiters.get(ticket.key, {})
        waiter = waiters.pop(ticket.number, None)
        if not waiters:
            self.waiters.pop(ticket.key, None)
        return waiter

    def admit(self, ticket: Ticket, grant: Grant, until: float) -> bool:
        """Serve the one who waits with this ticket; False when nobody does, yet or any more."""
        waiter = self.leave(ticket)
        if waiter is None:
            if self.asking:
                self.early[ticket.number] = (grant, until)
            return False
        if not waiter.done():
            waiter.set_result(grant)
        return True

    def dismiss(self, ticket: Ticket, error: StorageError) -> None:
        """Tell the one who waits with this ticket that there will be no grant."""
        waiter = self.leave(ticket)
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)

    def come(self, key: ThreadKey) -> None:
        """Somebody comes to wait; he is counted from now on."""
        self.asking[key] += 1

    @asynccontextmanager
    async def asking_for(self, key: ThreadKey) -> AsyncIterator[None]:
        """Ask for a ticket after those who came before; at the end it is there, or none is needed."""
        turn = self.turns.setdefault(key, asyncio.Lock())
        try:
            async with turn:
                yield
        finally:
            self.asking[key] -= 1
            if not self.asking[key]:
                del self.asking[key], self.turns[key]
            if not self.asking:
                self.early.clear()

    async def asked(self, key: ThreadKey) -> None:
        """Wait until all who have come to a thread so far stand in its queue."""
        turn = self.turns.get(key)
        if turn is not None:
            async with turn:
                pass

    def close(self, error: StorageError) -> None:
        """Dismiss everybody."""
        for ticket in self.tickets():
            self.dismiss(ticket, error)
