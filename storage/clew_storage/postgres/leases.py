"""The port's `Leases` on Postgres: rows that other servers see, and what this process knows of its own."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from clew_storage.errors import LeaseBusy, StorageError, StorageUnavailable, ThreadMissing
from clew_storage.postgres.connections import Connections
from clew_storage.postgres.lease_rows import Asked, LeaseRows, PassedOn, Place
from clew_storage.postgres.waiting import PlaceLostError, Ticket, WaitingRoom
from clew_storage.records import Grant, ThreadKey

# A call that was cancelled stays so long to see its place in the queue given up; it is given up in any case.
_FAREWELL_S = 2.0


class PostgresLeases:
    """Implements the port's `Leases`. A lease is held here while the database has said so within its term.

    Times are this process's monotonic clock, counted from before the question was sent: so a lease ends here no later
    than there, also for a process that was stopped meanwhile.
    """

    def __init__(self) -> None:
        self._rows: LeaseRows | None = None
        self._connections: Connections | None = None
        self._held: dict[ThreadKey, tuple[Grant, float]] = {}
        self._room = WaitingRoom()
        self._unreleased: set[Grant] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self.waiters_came = asyncio.Event()

    def open(self, connections: Connections, rows: LeaseRows) -> None:
        """Begin with nothing held."""
        self._closing = False
        self._connections, self._rows = connections, rows
        self._room = WaitingRoom()
        self._held.clear()
        self._unreleased.clear()
        self._tasks.clear()
        self.waiters_came = asyncio.Event()

    async def acquire(self, key: ThreadKey, *, purpose: str, wait_s: float, first: bool = False) -> Grant:
        """See the port."""
        until = time.monotonic() + wait_s
        while True:
            try:
                return await self._acquire(key, purpose, wait_s, first=first)
            except PlaceLostError:
                # Not the caller's business: he has the rest of his time, at the end of the queue.
                wait_s = max(0.0, until - time.monotonic())

    async def _acquire(self, key: ThreadKey, purpose: str, wait_s: float, *, first: bool) -> Grant:
        self._opened()
        held = self.holder(key)
        if wait_s <= 0 and (held is not None or self.queued(key)):
            raise LeaseBusy(_busy(key, held.purpose if held else "waiting call", wait_s))
        asking: asyncio.Task[tuple[Asked, asyncio.Future[Grant] | None]]
        if wait_s > 0:
            self._room.come(key)
            asking = self._spawn(self._ask_for_ticket(key, purpose, first=first))
        else:
            asking = self._spawn(self._ask(key, purpose, wait=False, first=first))
        try:
            asked, waiter = await asyncio.shield(asking)
        except asyncio.CancelledError:
            await self._see_through(self._take_back(asking))
            raise
        if asked.grant is not None:
            return asked.grant
        if asked.ticket is None or waiter is None:
            raise LeaseBusy(_busy(key, asked.held_for, wait_s))
        return await self._wait(asked.ticket, waiter, wait_s, asked.held_for)

    async def _ask_for_ticket(
        self, key: ThreadKey, purpose: str, *, first: bool
    ) -> tuple[Asked, asyncio.Future[Grant] | None]:
        async with self._room.asking_for(key):
            return await self._ask(key, purpose, wait=True, first=first)

    async def _ask(
        self, key: ThreadKey, purpose: str, *, wait: bool, first: bool
    ) -> tuple[Asked, asyncio.Future[Grant] | None]:
        connections, rows = self._opened()
        sent = time.monotonic()
        call = -1 - secrets.randbits(62)
        asked = await connections.run(lambda each: rows.ask(each, key, call, purpose, wait=wait, first=first))
        if self._closing:
            await self._hand_back(asked)
            raise StorageUnavailable("the storage was closed")
        if asked.grant is not None:
            self._hold(asked.grant, sent + rows.term_s)
        if asked.ticket is None:
            return asked, None
        waiter = self._room.enter(asked.ticket)
        if early := self._room.early.pop(asked.ticket.number, None):
            self._admit(asked.ticket, *early)
        self.waiters_came.set()
        return asked, waiter

    async def _hand_back(self, asked: Asked) -> None:
        if asked.grant is not None:
            await self._give_up(asked.grant)
        elif asked.ticket is not None:
            await self._hand_in(asked.ticket)

    async def _take_back(self, asking: asyncio.Task[tuple[Asked, asyncio.Future[Grant] | None]]) -> None:
        """The caller is gone before the answer came."""
        asked, waiter = await asking
        if asked.grant is not None:
            await self._give_up(asked.grant)
        elif asked.ticket is not None and waiter is not None:
            await self._leave(asked.ticket, waiter)

    async def _wait(self, ticket: Ticket, waiter: asyncio.Future[Grant], wait_s: float, held_for: str) -> Grant:
        try:
            # Unlike wait_for, this leaves the future alone: a grant in the very moment the wait ends is seen below.
            await asyncio.wait((waiter,), timeout=wait_s)
        except asyncio.CancelledError:
            self._room.leave(ticket)
            await self._see_through(self._leave(ticket, waiter))
            raise
        if waiter.done():
            return waiter.result()
        self._room.leave(ticket)
        await self._see_through(self._leave(ticket, waiter))
        raise LeaseBusy(_busy(ticket.key, held_for, wait_s))

    async def _leave(self, ticket: Ticket, waiter: asyncio.Future[Grant]) -> None:
        """Give up a place in the queue, or the grant that it has become."""
        self._room.leave(ticket)
        if waiter.done() and waiter.exception() is None:
            await self._give_up(waiter.result())
            return
        await self._hand_in(ticket)

    async def asked(self, key: ThreadKey) -> None:
        """Whoever has come to wait for the thread in this process has asked the database for a ticket."""
        await self._room.asked(key)

    async def release(self, grant: Grant) -> None:
        """See the port. When the database is away it is told as soon as it is back."""
        if self.holds(grant):
            await asyncio.shield(self._spawn(self._release(grant)))

    async def _release(self, grant: Grant) -> None:
        # Who came before has a ticket first, or one who came after could be served before.
        await self._room.asked(grant.key)
        await self._give_up(grant)

    async def _give_up(self, grant: Grant) -> None:
        held = self._held.get(grant.key)
        if held is not None and held[0] == grant:
            del self._held[grant.key]
        if self._connections is None:
            return
        try:
            await self._tell(grant)
        except StorageError:
            self._unreleased.add(grant)

    async def _tell(self, grant: Grant) -> None:
        connections, rows = self._opened()
        sent = time.monotonic()
        passed = await connections.run(lambda each: rows.release(each, grant.key, epoch=grant.epoch))
        self._pass_on(passed, sent)

    async def _hand_in(self, ticket: Ticket) -> None:
        connections, rows = self._opened()
        sent = time.monotonic()
        passed = await connections.run(lambda each: rows.release(each, ticket.key, ticket=ticket.number))
        self._pass_on(passed, sent)

    def _pass_on(self, passed: PassedOn | None, sent: float) -> None:
        if passed is not None and self._rows is not None and passed.server == self._rows.server:
            self._admit(passed.ticket, passed.grant, sent + self._rows.term_s)

    def _admit(self, ticket: Ticket, grant: Grant, until: float) -> None:
        if self._room.admit(ticket, grant, until):
            self._hold(grant, until)

    def _hold(self, grant: Grant, until: float) -> None:
        held = self._held.get(grant.key)
        if held is None or held[0].epoch <= grant.epoch:
            self._held[grant.key] = (grant, until)

    def holder(self, key: ThreadKey) -> Grant | None:
        """See the port."""
        held = self._held.get(key)
        if held is None:
            return None
        if held[1] <= time.monotonic():
            del self._held[key]
            return None
        return held[0]

    def holds(self, grant: Grant) -> bool:
        """See the port."""
        return self.holder(grant.key) == grant

    def holds_firmly(self, grant: Grant) -> bool:
        """See the port."""
        rows = self._rows
        return rows is not None and self.holds(grant) and self._held[grant.key][1] - time.monotonic() > rows.term_s / 2

    def queued(self, key: ThreadKey) -> int:
        """See the port."""
        return self._room.queued(key)

    def sees_all(self) -> bool:
        """See the port: `Threads.glance` knows."""
        return True

    def revoke(self, key: ThreadKey, epoch: int, tickets: Sequence[int]) -> None:
        """The thread was deleted, and every lease below the epoch with it; who waited with these tickets is told."""
        held = self._held.get(key)
        if held is not None and held[0].epoch < epoch:
            del self._held[key]
        # Those of other servers are theirs to be told.
        for number in self._room.waiters.get(key, {}).keys() & set(tickets):
            self._dismiss(Ticket(key, number), ThreadMissing(f"thread {key.thread_id} was deleted"))

    def _dismiss(self, ticket: Ticket, error: StorageError) -> None:
        self._room.dismiss(ticket, error)
        self._spawn(self._hand_in(ticket))

    def held(self) -> list[Grant]:
        """What is held, for the keeper to renew; what ends first comes first."""
        now = time.monotonic()
        held = sorted(self._held.values(), key=lambda each: each[1])
        return [grant for grant, until in held if until > now]

    def tickets(self) -> list[Ticket]:
        """The tickets of those who wait, for the keeper to ask about."""
        return self._room.tickets()

    def renewed(self, asked: list[Grant], epochs: frozenset[int], until: float) -> None:
        """The database's answer to a renewal."""
        for grant in asked:
            held = self._held.get(grant.key)
            if held is None or held[0] != grant:
                continue
            if grant.epoch in epochs:
                self._held[grant.key] = (grant, until)
            else:
                del self._held[grant.key]

    def found(self, place: Place, asked_at: float) -> None:
        """The database's answer about a ticket."""
        if place.grant is not None:
            self._admit(place.ticket, place.grant, asked_at + place.left_s)
        elif place.dismissed:
            self._dismiss(place.ticket, ThreadMissing(f"thread {place.ticket.key.thread_id} was deleted"))
        elif place.missing:
            self._room.dismiss(place.ticket, PlaceLostError())

    def unreleased(self) -> list[Grant]:
        """What the database could not be told of yet."""
        return list(self._unreleased)

    async def release_late(self, grant: Grant) -> None:
        """Tell the database of it now."""
        await self._tell(grant)
        self._unreleased.discard(grant)

    async def close(self) -> None:
        """Dismiss who waits, release what is held, and finish what was begun."""
        if self._connections is None:
            return
        self._closing = True
        tickets = self._room.tickets()
        self._room.close(StorageUnavailable("the storage was closed"))
        # Who is still asking must not be given what is released below.
        await asyncio.gather(*self._tasks, return_exceptions=True)
        leaving = [
            *(self._spawn(self._hand_in(ticket)) for ticket in tickets),
            *(self._spawn(self._give_up(grant)) for grant in self.held()),
        ]
        await asyncio.gather(*leaving, *self._tasks, return_exceptions=True)
        self._connections = self._rows = None
        self._held.clear()

    def leave_behind(self) -> list[Grant]:
        """What is held although the event loop that it was held in is gone; here nothing is held any more."""
        left = [grant for grant, _ in self._held.values()]
        self._held.clear()
        self._connections = self._rows = None
        return [*left, *self._unreleased]

    async def free(self, grant: Grant) -> None:
        """Release what was left behind."""
        await self._give_up(grant)

    def _opened(self) -> tuple[Connections, LeaseRows]:
        if self._connections is None or self._rows is None:
            raise StorageUnavailable("the storage is not open")
        return self._connections, self._rows

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """A task that its caller may leave behind."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _see_through(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for the end of something that goes on if its caller is in a hurry."""
        await asyncio.wait((self._spawn(work),), timeout=_FAREWELL_S)


def _busy(key: ThreadKey, purpose: str, wait_s: float) -> str:
    waited = f" after waiting {wait_s:g} s" if wait_s > 0 else ""
    return f"a {purpose} holds the thread {key.thread_id}{waited}"
