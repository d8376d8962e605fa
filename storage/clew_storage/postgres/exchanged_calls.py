"""The exchange's rows. Leases are counted by the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.records import CallName, CallSight, CallState, GivenCall, OfferedCall, ThreadKey, WorkerRecord

_STATES = tuple(CallState)
_TAKEN, _WITHDRAWN = _STATES.index(CallState.TAKEN), _STATES.index(CallState.WITHDRAWN)
_UNTIL = "clock_timestamp() + {seconds} * interval '1 second'"
_OVER = "c.state = 1 AND c.lease_until <= clock_timestamp()"
_SIGHT = (
    f"CASE WHEN {_OVER} AND NOT c.once THEN 0 ELSE c.state END, c.worker_id, c.delivery, {_OVER} AND c.once, "
    "c.deadline IS NOT NULL AND c.deadline <= clock_timestamp(), c.tries, c.progress, c.outcome, c.not_before_ms"
)
_OFFER = (
    "c.tenant, c.thread_id, c.name, c.tool, c.body, c.once, c.offered_at_ms, c.timeout_ms, c.max_tries, c.delivery, "
    "(extract(epoch FROM c.deadline) * 1000)::bigint"
)
_NAMED = "c.tenant = $1 AND c.thread_id = $2 AND c.name = $3"
# Names as columns side by side: $1 to $3.
_NAMES = "unnest($1::text[], $2::text[], $3::text[]) AS n (tenant, thread_id, name)"
_SAME = "c.tenant = n.tenant AND c.thread_id = n.thread_id AND c.name = n.name"


async def register(connection: Connection, schema: Schema, worker: WorkerRecord, lease_s: float) -> bool:
    """See the port."""
    draining = await connection.fetchval(
        schema.sql(
            "INSERT INTO clew.workers AS w "
            "(tenant, worker_id, thread_id, tools, once, body, max_calls, draining, created_at_ms, lease_until) "
            f"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, {_UNTIL.format(seconds='$10::float8')}) "
            "ON CONFLICT (tenant, worker_id) DO UPDATE SET thread_id = excluded.thread_id, tools = excluded.tools, "
            "once = excluded.once, body = excluded.body, max_calls = excluded.max_calls, draining = excluded.draining OR w.draining, "
            "created_at_ms = excluded.created_at_ms, lease_until = excluded.lease_until RETURNING draining"
        ),
        worker.tenant, worker.worker_id, worker.thread_id, list(worker.tools), list(worker.once), worker.body,
        worker.max_calls, worker.draining, worker.created_at_ms, lease_s,
    )  # fmt: skip
    return bool(draining)


async def drain(connection: Connection, schema: Schema, tenant: str, worker_id: str) -> bool:
    """See the port."""
    done = await connection.fetchval(
        schema.sql(
            "UPDATE clew.workers w SET draining = true WHERE w.tenant = $1 AND w.worker_id = $2 RETURNING true"
        ),
        tenant, worker_id,
    )  # fmt: skip
    return bool(done)


async def dismiss(connection: Connection, schema: Schema, tenant: str, worker_id: str) -> None:
    """See the port."""
    await connection.execute(
        schema.sql("DELETE FROM clew.workers w WHERE w.tenant = $1 AND w.worker_id = $2"), tenant, worker_id
    )


async def list_workers(
    connection: Connection, schema: Schema, tenant: str, tools: Collection[str], after: str | None, limit: int
) -> list[WorkerRecord]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            "SELECT w.tenant, w.worker_id, w.tools, w.body, w.once, w.thread_id, w.max_calls, w.draining, w.created_at_ms "
            "FROM clew.workers w WHERE w.tenant = $1 AND w.lease_until > clock_timestamp() "
            'AND ($2::text[] IS NULL OR $2 && w.tools) AND ($3::text IS NULL OR w.worker_id > $3 COLLATE "C") '
            'ORDER BY w.worker_id COLLATE "C" LIMIT $4'
        ),
        tenant, list(tools) or None, after, limit,
    )  # fmt: skip
    return [WorkerRecord(row[0], row[1], tuple(row[2]), row[3], tuple(row[4]), *row[5:]) for row in rows]


async def offer(connection: Connection, schema: Schema, offered: OfferedCall) -> CallSight:
    """See the port."""
    call = offered.call
    row = await connection.fetchrow(
        schema.sql(
            "INSERT INTO clew.calls AS c "
            "(tenant, thread_id, name, tool, body, once, offered_at_ms, timeout_ms, max_tries, not_before_ms) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
            "ON CONFLICT (tenant, thread_id, name) DO UPDATE SET tool = excluded.tool, body = excluded.body, "
            "once = excluded.once, offered_at_ms = excluded.offered_at_ms, timeout_ms = excluded.timeout_ms, "
            "max_tries = excluded.max_tries, state = 0, worker_id = '', delivery = 0, tries = 0, not_before_ms = 0, "
            f"deadline = NULL, lease_until = NULL WHERE c.state >= {_TAKEN} RETURNING {_SIGHT}"
        ),
        call.key.tenant, call.key.thread_id, call.name, offered.tool, offered.body, offered.once, offered.offered_at_ms,
        offered.timeout_ms, offered.max_tries, offered.not_before_ms,
    )  # fmt: skip
    # One that is known stays as it is, and no row comes back of what was left alone.
    return _sight(row) if row is not None else (await sight(connection, schema, [call]))[call]


async def claim(
    connection: Connection,
    schema: Schema,
    worker: WorkerRecord,
    tools: Collection[str],
    limit: int,
    lease_s: float,
    now_ms: int,
) -> list[GivenCall]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            "WITH free AS (SELECT c.tenant, c.thread_id, c.name FROM clew.calls c WHERE c.tenant = $1 "
            "AND c.tool = ANY($2::text[]) AND $3 IN ('', c.thread_id) AND c.state < 2 "
            "AND (c.once OR c.tool <> ALL($8::text[])) AND (c.deadline IS NULL OR clock_timestamp() < c.deadline) "
            f"AND ((c.state = 0 AND c.not_before_ms <= $4) OR (NOT c.once AND {_OVER})) "
            "ORDER BY c.offered_at_ms, c.name LIMIT $5 FOR UPDATE SKIP LOCKED) "
            "UPDATE clew.calls c SET state = 1, worker_id = $6, delivery = c.delivery + 1, "
            f"deadline = coalesce(c.deadline, {_UNTIL.format(seconds='c.timeout_ms / 1000.0')}), "
            f"lease_until = {_UNTIL.format(seconds='$7::float8')} FROM free n WHERE {_SAME} RETURNING {_OFFER}"
        ),
        worker.tenant, list(tools), worker.thread_id, now_ms, limit, worker.worker_id, lease_s,
        list(worker.once),
    )  # fmt: skip
    given = [
        GivenCall(
            OfferedCall(CallName(ThreadKey(row[0], row[1]), row[2]), *row[3:9]),
            row[9],
            row[10],
        )
        for row in rows
    ]
    return sorted(given, key=lambda each: (each.offer.offered_at_ms, each.offer.call.name))


async def hold(
    connection: Connection, schema: Schema, worker_id: str, calls: Sequence[CallName], lease_s: float
) -> set[CallName]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            f"UPDATE clew.calls c SET state = 1, worker_id = $4, lease_until = {_UNTIL.format(seconds='$5::float8')} "
            f"FROM {_NAMES} WHERE {_SAME} AND (c.state = 0 OR (c.state = 1 AND c.worker_id = $4)) "
            "RETURNING c.tenant, c.thread_id, c.name"
        ),
        *_columns(calls), worker_id, lease_s,
    )  # fmt: skip
    return {CallName(ThreadKey(row[0], row[1]), row[2]) for row in rows}


async def reopen(connection: Connection, schema: Schema, tenant: str, worker_id: str, but: Collection[CallName]) -> int:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            "UPDATE clew.calls c SET state = 0, worker_id = '', lease_until = NULL "
            "WHERE c.tenant = $4 AND c.worker_id = $5 AND c.state = 1 AND NOT c.once "
            f"AND NOT EXISTS (SELECT FROM {_NAMES} WHERE {_SAME}) RETURNING 1"
        ),
        *_columns(but), tenant, worker_id,
    )  # fmt: skip
    return len(rows)


async def give_back(connection: Connection, schema: Schema, worker_id: str, call: CallName, not_before_ms: int) -> bool:
    """See the port."""
    done = await connection.fetchval(
        schema.sql(
            "UPDATE clew.calls c SET state = 0, worker_id = '', not_before_ms = $5, tries = c.tries + 1, "
            "lease_until = NULL "
            f"WHERE {_NAMED} AND c.state = 1 AND c.worker_id = $4 AND c.tries + 1 < c.max_tries RETURNING true"
        ),
        *_name(call), worker_id, not_before_ms,
    )  # fmt: skip
    return bool(done)


async def report(connection: Connection, schema: Schema, worker_id: str, call: CallName, progress: bytes) -> bool:
    """See the port."""
    done = await connection.fetchval(
        schema.sql(
            f"UPDATE clew.calls c SET progress = $5 WHERE {_NAMED} AND c.state = 1 AND c.worker_id = $4 RETURNING true"
        ),
        *_name(call), worker_id, progress,
    )  # fmt: skip
    return bool(done)


async def finish(
    connection: Connection, schema: Schema, worker_id: str, call: CallName, outcome: bytes
) -> CallSight | None:
    """See the port."""
    # The row's lock makes it one of two that come at once, and what is told is how the row stands then.
    takes = "c.state = 0 OR (c.state = 1 AND c.worker_id = $4)"
    row = await connection.fetchrow(
        schema.sql(
            f"UPDATE clew.calls c SET state = CASE WHEN {takes} THEN 2 ELSE c.state END, "
            f"worker_id = CASE WHEN {takes} THEN $4 ELSE c.worker_id END, "
            f"outcome = CASE WHEN {takes} THEN $5 ELSE c.outcome END WHERE {_NAMED} RETURNING {_SIGHT}"
        ),
        *_name(call), worker_id, outcome,
    )  # fmt: skip
    return None if row is None else _sight(row)


async def sight(connection: Connection, schema: Schema, calls: Sequence[CallName]) -> Mapping[CallName, CallSight]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            f"SELECT {_SIGHT}, c.tenant, c.thread_id, c.name FROM {_NAMES} JOIN clew.calls c ON {_SAME}"
        ),
        *_columns(calls),
    )  # fmt: skip
    return {CallName(ThreadKey(row[9], row[10]), row[11]): _sight(row) for row in rows}


async def take(connection: Connection, schema: Schema, calls: Sequence[CallName]) -> None:
    """See the port."""
    await connection.execute(
        schema.sql(
            f"UPDATE clew.calls c SET state = 3, outcome = NULL, progress = NULL FROM {_NAMES} WHERE {_SAME} AND c.state = 2"
        ),
        *_columns(calls),
    )


async def withdraw(connection: Connection, schema: Schema, calls: Sequence[CallName]) -> None:
    """See the port."""
    await connection.execute(
        schema.sql(
            f"UPDATE clew.calls c SET state = {_WITHDRAWN}, outcome = NULL, progress = NULL FROM {_NAMES} WHERE {_SAME}"
        ),
        *_columns(calls),
    )  # fmt: skip


async def forget(connection: Connection, schema: Schema, before_ms: int) -> int:
    """See the port."""
    gone = await connection.fetchval(
        schema.sql(
            "WITH workers AS (DELETE FROM clew.workers w WHERE w.lease_until < clock_timestamp() - interval '1 minute'), "
            "calls AS (DELETE FROM clew.calls c WHERE (c.state >= 3 OR c.lease_until < clock_timestamp()) "
            "AND c.offered_at_ms < $1 RETURNING 1) "
            "SELECT count(*) FROM calls"
        ),
        before_ms,
    )  # fmt: skip
    return int(gone)


def _sight(row: Any) -> CallSight:
    return CallSight(_STATES[row[0]], *row[1:9])


def _name(call: CallName) -> tuple[str, str, str]:
    return call.key.tenant, call.key.thread_id, call.name


def _columns(calls: Collection[CallName]) -> tuple[list[str], list[str], list[str]]:
    return [each.key.tenant for each in calls], [each.key.thread_id for each in calls], [each.name for each in calls]
