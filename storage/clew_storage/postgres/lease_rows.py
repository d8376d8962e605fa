"""Leases and tickets on disk: each call is one statement, and the database's clock decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from asyncpg import LockNotAvailableError

from clew_storage.postgres.rows import Connection, get_text, put_text
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.waiting import Ticket
from clew_storage.records import Grant, ThreadKey


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking for a lease: a grant, or a ticket where one was wanted; else its holder's purpose."""

    grant: Grant | None
    ticket: Ticket | None
    held_for: str


@dataclass(frozen=True, slots=True)
class PassedOn:
    """Who got a lease next."""

    server: str
    ticket: Ticket
    grant: Grant


@dataclass(frozen=True, slots=True)
class Place:
    """How it stands with a ticket. `missing`: the database has dropped it; `abandoned`: the thread's holder is gone."""

    ticket: Ticket
    grant: Grant | None
    left_s: float
    missing: bool
    dismissed: bool
    abandoned: bool


_PLACES = """
SELECT w.i, l.server = $1 AND l.ticket = w.ticket AND l.expires_at > clock_timestamp() AS granted, l.epoch, l.purpose,
    extract(epoch FROM l.expires_at - clock_timestamp())::float8 AS left_s, t.ticket IS NULL AS missing, t.dismissed,
    l.server IS NULL OR l.expires_at <= clock_timestamp() AS abandoned
FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS w (tenant, thread_id, ticket, i)
LEFT JOIN clew.leases l ON l.tenant = w.tenant AND l.thread_id = w.thread_id
LEFT JOIN clew.tickets t ON t.tenant = w.tenant AND t.thread_id = w.thread_id AND t.ticket = w.ticket
ORDER BY w.i
"""


_FORGET = """
WITH part AS (
    SELECT l.tenant, l.thread_id FROM clew.leases l WHERE (l.tenant, l.thread_id) > ($1, $2)
    ORDER BY l.tenant, l.thread_id LIMIT $3
), idle AS (
    SELECT l.tenant, l.thread_id FROM part JOIN clew.leases l USING (tenant, thread_id)
    WHERE (l.server IS NULL OR l.expires_at <= clock_timestamp())
        AND NOT EXISTS (SELECT FROM clew.tickets w WHERE w.tenant = l.tenant AND w.thread_id = l.thread_id)
        AND NOT EXISTS (
            SELECT FROM clew.threads t WHERE t.tenant = l.tenant AND t.thread_id = l.thread_id AND t.uid IS NOT NULL
        )
    FOR UPDATE OF l SKIP LOCKED
), gone AS (
    DELETE FROM clew.leases l USING idle WHERE l.tenant = idle.tenant AND l.thread_id = idle.thread_id RETURNING 1
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM part), p.tenant, p.thread_id FROM part p
ORDER BY p.tenant DESC, p.thread_id DESC LIMIT 1
"""


async def forget_idle(
    connection: Connection, schema: Schema, after: ThreadKey | None, limit: int
) -> tuple[int, ThreadKey | None]:
    """See the port. A grant needs no row that was there before: its epoch comes from a sequence."""
    start = ("", "") if after is None else (after.tenant, after.thread_id)
    row = await connection.fetchrow(schema.sql(_FORGET), *start, limit)
    if row is None:
        return 0, None
    went, seen, *last = row
    return went, ThreadKey(*last) if seen == limit else None


class LeaseRows:
    """`server` is the name of this storage among those on the database, `term_s` how long a lease lasts."""

    def __init__(self, schema: Schema, server: str, term_s: float) -> None:
        self.server = server
        self.term_s = term_s
        self._term = timedelta(seconds=term_s)
        self._schema = schema

    async def ask(
        self, connection: Connection, key: ThreadKey, call: int, purpose: str, *, wait: bool, first: bool
    ) -> Asked:
        """Take the lease, or a ticket; asked again with the same number, the answer is the same."""
        row = await connection.fetchrow(
            self._schema.sql("SELECT * FROM clew.acquire_1($1, $2, $3, $4, $5, $6, $7, $8)"),
            key.tenant, key.thread_id, self.server, call, put_text(purpose), self._term, wait, first,
        )  # fmt: skip
        assert row is not None
        epoch, ticket, held_by = row
        return Asked(
            None if epoch is None else Grant(key, epoch, purpose),
            None if ticket is None else Ticket(key, ticket),
            get_text(held_by or b""),
        )

    async def release(
        self, connection: Connection, key: ThreadKey, *, epoch: int | None = None, ticket: int | None = None
    ) -> PassedOn | None:
        """Give a grant up, or a ticket with the grant that it may have become."""
        row = await connection.fetchrow(
            self._schema.sql("SELECT * FROM clew.release_1($1, $2, $3, $4, $5, $6)"),
            key.tenant, key.thread_id, self.server, epoch, ticket, self._term,
        )  # fmt: skip
        assert row is not None
        server, number, granted, purpose = row
        if granted is None:
            return None
        return PassedOn(server, Ticket(key, number), Grant(key, granted, get_text(purpose)))

    async def take_over(self, connection: Connection, key: ThreadKey) -> None:
        """Where the holder is gone, let the first who waits have the lease; one that is locked is left as it is."""
        await connection.execute(
            self._schema.sql("SELECT clew.take_over_2($1, $2, $3)"), key.tenant, key.thread_id, self._term
        )

    async def renew(
        self, connection: Connection, grants: Sequence[Grant], *, wait_s: float | None = None
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Hold on; the epochs that are still held, and those that others have locked.

        `wait_s`: how long a locked one, which comes alone, is waited for (None: it is passed over).
        """
        try:
            rows = await connection.fetch(
                self._schema.sql("SELECT * FROM clew.renew_2($1, $2, $3, $4, $5, $6)"),
                [grant.key.tenant for grant in grants],
                [grant.key.thread_id for grant in grants],
                [grant.epoch for grant in grants],
                self.server,
                self._term,
                _interval(wait_s),
            )
        except LockNotAvailableError:
            return frozenset(), frozenset(grant.epoch for grant in grants)
        held = frozenset(epoch for epoch, locked in rows if not locked)
        return held, frozenset(epoch for epoch, _ in rows) - held

    async def wait_on(
        self, connection: Connection, tickets: Sequence[Ticket], *, wait_s: float | None = None
    ) -> frozenset[int]:
        """Stay in the queue; the numbers of those that could not, since others have them locked. `wait_s` as for `renew`."""
        try:
            rows = await connection.fetch(
                self._schema.sql("SELECT * FROM clew.wait_on_2($1, $2, $3, $4, $5)"),
                *_columns(tickets), self._term, _interval(wait_s),
            )  # fmt: skip
        except LockNotAvailableError:
            return frozenset(ticket.number for ticket in tickets)
        return frozenset(number for (number,) in rows)

    async def places(self, connection: Connection, tickets: Sequence[Ticket]) -> list[Place]:
        """How it stands with the tickets; one that became a grant is not missing."""
        rows = await connection.fetch(self._schema.sql(_PLACES), self.server, *_columns(tickets))
        places = []
        for ticket, (_, granted, epoch, purpose, left_s, missing, dismissed, abandoned) in zip(
            tickets, rows, strict=True
        ):
            grant = Grant(ticket.key, epoch, get_text(purpose)) if granted else None
            places.append(
                Place(ticket, grant, left_s or 0, missing and grant is None, bool(dismissed), bool(abandoned))
            )
        return places


def _interval(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _columns(tickets: Sequence[Ticket]) -> tuple[list[str], list[str], list[int]]:
    return (
        [ticket.key.tenant for ticket in tickets],
        [ticket.key.thread_id for ticket in tickets],
        [ticket.number for ticket in tickets],
    )
