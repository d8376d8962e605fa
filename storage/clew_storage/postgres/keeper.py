"""What a server does for its leases while others work: renews what is held, and asks for those who wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from clew_storage.errors import StorageError, StorageUnavailable
from clew_storage.postgres.connections import Connections, StandingConnection
from clew_storage.postgres.failures import DRIVER_ERRORS
from clew_storage.postgres.lease_rows import LeaseRows
from clew_storage.postgres.leases import PostgresLeases
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.waiting import Ticket
from clew_storage.records import Grant, ThreadKey

T = TypeVar("T")
# Of a term: when it is renewed, how soon again when that failed, how long one that is locked is waited for, and all that are.
_RENEW, _AGAIN, _TURN, _PATIENCE = 1 / 3, 1 / 15, 1 / 30, 1 / 3


class LeaseKeeper:
    """What is renewed and asked for has a connection of its own, so that no read or write holds a renewal up."""

    def __init__(self, connections: Connections, rows: LeaseRows, leases: PostgresLeases, poll_s: float) -> None:
        self._rows = rows
        self._leases = leases
        self._poll_s = poll_s
        self._connection = StandingConnection(connections)
        self._one_at_a_time = asyncio.Lock()
        self._hint = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self._renew_all(), name="clew-postgres-renewals"),
            asyncio.create_task(self._ask_for_all(), name="clew-postgres-tickets"),
            asyncio.create_task(self._release_all_late(), name="clew-postgres-releases"),
        ]

    def hint(self) -> None:
        """Somebody may have been given a thread: ask now rather than later."""
        self._hint.set()

    async def close(self) -> None:
        """Stop, and leave the leases to whoever closes the storage."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._connection.close()

    async def _renew_all(self) -> None:
        while True:
            done = await self._try(self.renew)
            await asyncio.sleep(self._rows.term_s * (_RENEW if done else _AGAIN))

    async def renew(self) -> None:
        """Renew once, leases and tickets.

        Those that somebody has locked come after all others, one by one, so that none of them holds up any other for long.
        Raises `StorageUnavailable` when some could not be renewed.
        """
        try:
            grants = await self._renew(self._leases.held(), None)
        finally:
            # Who waits keeps his place, also where a lease could not be renewed.
            tickets = await self._wait_on(self._leases.tickets(), None)
        term, until = self._rows.term_s, time.monotonic() + self._rows.term_s * _PATIENCE
        left = len(grants) + len(tickets)
        for grant in grants:
            if time.monotonic() < until:
                left -= not await self._renew([grant], term * _TURN)
        for ticket in tickets:
            if time.monotonic() < until:
                left -= not await self._wait_on([ticket], term * _TURN)
        if left:
            raise StorageUnavailable(f"other sessions of the database hold locks on {left} leases")

    async def _renew(self, grants: list[Grant], wait_s: float | None) -> list[Grant]:
        """Those that are locked."""
        if not grants:
            return []
        sent = time.monotonic()
        epochs, locked = await self._run(lambda connection: self._rows.renew(connection, grants, wait_s=wait_s))
        answered = [grant for grant in grants if grant.epoch not in locked]
        self._leases.renewed(answered, epochs, sent + self._rows.term_s)
        return [grant for grant in grants if grant.epoch in locked]

    async def _hold_on(self, grants: list[Grant]) -> None:
        """Those that are locked wait for the next renewal."""
        await self._renew(grants, None)

    async def _wait_on(self, tickets: list[Ticket], wait_s: float | None) -> list[Ticket]:
        """Those that are locked."""
        if not tickets:
            return []
        locked = await self._run(lambda connection: self._rows.wait_on(connection, tickets, wait_s=wait_s))
        return [ticket for ticket in tickets if ticket.number in locked]

    async def _release_all_late(self) -> None:
        while True:
            await self.release_late()
            await asyncio.sleep(self._rows.term_s * _AGAIN)

    async def release_late(self) -> None:
        """Tell the database once more of what it could not be told."""
        for grant in self._leases.unreleased():
            await self._try(lambda grant=grant: self._leases.release_late(grant))  # type: ignore[misc]

    async def _ask_for_all(self) -> None:
        while True:
            tickets = self._leases.tickets()
            if not tickets:
                self._leases.waiters_came.clear()
                await self._leases.waiters_came.wait()
            try:
                async with asyncio.timeout(self._poll_s):
                    await self._hint.wait()
            except TimeoutError:
                pass
            # A hint that comes while it asks makes it ask once more.
            self._hint.clear()
            await self._try(self._ask)

    async def _ask(self) -> None:
        tickets = self._leases.tickets()
        if tickets:
            await self._ask_about(tickets)

    async def _ask_about(self, tickets: list[Ticket]) -> None:
        asked_at = time.monotonic()
        places = await self._run(lambda connection: self._rows.places(connection, tickets))
        for place in places:
            self._leases.found(place, asked_at)
        # Who passed it on may have a shorter term: what is left may be over before the next renewal.
        enough_s = self._rows.term_s * (1 - _RENEW)
        short = [place.grant for place in places if place.grant is not None and place.left_s < enough_s]
        if short:
            await self._try(lambda: self._hold_on(short))
        for key in {place.ticket.key for place in places if place.abandoned and place.grant is None}:
            # What holds one of them up holds nobody up who waits for another.
            await self._try(lambda key=key: self._take_over(key))  # type: ignore[misc]

    async def _take_over(self, key: ThreadKey) -> None:
        await self._run(lambda connection: self._rows.take_over(connection, key))

    async def _run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._one_at_a_time:
            return await self._connection.run(work)

    @staticmethod
    async def _try(work: Callable[[], Awaitable[None]]) -> bool:
        """Whether it could be done; what holds it up is told to those who call."""
        try:
            await work()
        except (StorageError, *DRIVER_ERRORS):
            return False
        return True
