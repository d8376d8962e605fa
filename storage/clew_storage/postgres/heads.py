"""A thread's head and the checkpoints behind it."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from clew_storage.errors import ThreadMissing
from clew_storage.lines import Line, contains, line_of, trimmed, truncate
from clew_storage.postgres.rows import (
    APPROVAL,
    CHECKPOINT,
    CHECKPOINT_WIDTH,
    MESSAGE,
    PLACE_WIDTH,
    POSITIONS,
    THREAD,
    THREAD_PLACE,
    THREAD_WIDTH,
    Connection,
    StoredThread,
    approval_record,
    checkpoint_record,
    get_text,
    message_record,
    stored_thread,
)
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.states import State, read_pieces
from clew_storage.records import CheckpointRecord, Glance, Grant, Head, LogEntry, ThreadKey

_THREAD = f"SELECT {THREAD}, {THREAD_PLACE} FROM clew.threads t WHERE t.tenant = $1 AND t.thread_id = $2 AND t.uid IS NOT NULL"
_HEAD = f"""
SELECT {THREAD}, {THREAD_PLACE}, {CHECKPOINT}, {APPROVAL}
FROM clew.threads t
LEFT JOIN clew.checkpoints c ON c.tenant = t.tenant AND c.thread_id = t.thread_id AND c.version = t.head
LEFT JOIN clew.approvals a ON a.tenant = t.tenant AND a.thread_id = t.thread_id AND a.state = 0
WHERE t.tenant = $1 AND t.thread_id = $2 AND t.uid IS NOT NULL
ORDER BY a.asked_in, a.number
"""
_CHECKPOINT = f"""
SELECT {CHECKPOINT} FROM clew.checkpoints c WHERE c.tenant = $1 AND c.thread_id = $2 AND c.version = $3::bigint
"""
_FORKS = """
SELECT c.version, c.parent FROM clew.checkpoints c
WHERE c.tenant = $1 AND c.thread_id = $2 AND c.version <= $3::bigint AND c.parent IS NOT NULL ORDER BY c.version
"""
_HISTORY = f"""
SELECT {CHECKPOINT} FROM unnest($3::integer[], $4::integer[]) AS span (first, last)
CROSS JOIN LATERAL (
    SELECT * FROM clew.checkpoints x
    WHERE x.tenant = $1 AND x.thread_id = $2 AND x.version BETWEEN span.first AND span.last
    -- It has no more; the limit keeps the planner from looking at all of the thread.
    LIMIT $5
) AS c
ORDER BY c.version DESC
"""
_LOG = f"""
SELECT {CHECKPOINT}, {POSITIONS} AS positions, (
    SELECT coalesce(sum(octet_length(m.body)), 0) FROM clew.messages m
    WHERE m.tenant = $1 AND m.thread_id = $2 AND m.position = ANY ({POSITIONS}) AND m.version = c.version
) AS bytes
FROM clew.threads t
JOIN clew.checkpoints c ON c.tenant = t.tenant AND c.thread_id = t.thread_id
WHERE t.tenant = $1 AND t.thread_id = $2 AND t.uid = $3 AND c.version > $4::bigint
ORDER BY c.version LIMIT $5
"""
_LOG_MESSAGES = f"""
SELECT {MESSAGE} FROM unnest($3::bigint[], $4::integer[]) AS at (position, version)
JOIN clew.messages m ON m.tenant = $1 AND m.thread_id = $2 AND m.position = at.position AND m.version = at.version
"""
_LOG_APPROVALS = f"""
SELECT {APPROVAL} FROM clew.approvals a
WHERE a.tenant = $1 AND a.thread_id = $2 AND a.version BETWEEN $3 AND $4 ORDER BY a.version, a.asked_in, a.number
"""
_GLANCE = """
SELECT t.uid, t.head, t.cancel_run = t.run_version AND t.cancel_attempt = t.attempt, t.epoch, l.epoch, l.purpose, (
    SELECT count(*) FROM clew.tickets w
    WHERE w.tenant = k.tenant AND w.thread_id = k.thread_id AND NOT w.dismissed AND w.expires_at > clock_timestamp()
)
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k (tenant, thread_id, i)
LEFT JOIN clew.threads t ON t.tenant = k.tenant AND t.thread_id = k.thread_id
LEFT JOIN clew.leases l ON l.tenant = k.tenant AND l.thread_id = k.thread_id AND l.server IS NOT NULL
    AND l.expires_at > clock_timestamp()
ORDER BY k.i
"""
_APPROVAL_AT = THREAD_WIDTH + PLACE_WIDTH + CHECKPOINT_WIDTH


async def find_thread(connection: Connection, schema: Schema, key: ThreadKey) -> StoredThread | None:
    """The living thread of that name."""
    row = await connection.fetchrow(schema.sql(_THREAD), key.tenant, key.thread_id)
    return None if row is None else stored_thread(tuple(row))


async def get_head(connection: Connection, schema: Schema, key: ThreadKey) -> Head | None:
    """See the port."""
    rows = [tuple(row) for row in await connection.fetch(schema.sql(_HEAD), key.tenant, key.thread_id)]
    if not rows:
        return None
    thread = stored_thread(rows[0])
    at_head = rows[0][THREAD_WIDTH + PLACE_WIDTH : _APPROVAL_AT]
    return Head(
        thread.record,
        None if at_head[0] is None else checkpoint_record(at_head),
        thread.line,
        tuple(approval_record(row[_APPROVAL_AT:]) for row in rows if row[_APPROVAL_AT] is not None),
        cancel_requested=thread.cancel is not None and thread.cancel == thread.attempt,
        oldest_version=thread.oldest,
    )


async def glance(connection: Connection, schema: Schema, keys: Sequence[ThreadKey]) -> dict[ThreadKey, Glance]:
    """See the port."""
    rows = await connection.fetch(schema.sql(_GLANCE), [key.tenant for key in keys], [key.thread_id for key in keys])
    return {
        key: Glance(
            uid or "",
            head if uid else 0,
            bool(asked),
            None if held is None else Grant(key, held, get_text(purpose)),
            waiting,
            epoch if uid else 0,
        )
        for key, (uid, head, asked, epoch, held, purpose, waiting) in zip(keys, rows, strict=True)
    }


async def get_checkpoint(
    connection: Connection, schema: Schema, key: ThreadKey, version: int
) -> CheckpointRecord | None:
    """See the port."""
    row = await connection.fetchrow(schema.sql(_CHECKPOINT), key.tenant, key.thread_id, version)
    return None if row is None else checkpoint_record(tuple(row))


async def line_to(connection: Connection, schema: Schema, thread: StoredThread, version: int) -> Line | None:
    """The line that ends at a stored version, on the head's line or off it; None where it is not stored."""
    if contains(thread.line, version):
        return truncate(thread.line, version) if version >= thread.oldest else None
    key = thread.record.key
    if await get_checkpoint(connection, schema, key, version) is None:
        return None
    forks = await connection.fetch(schema.sql(_FORKS), key.tenant, key.thread_id, version)
    line = line_of(version, [(fork, parent) for fork, parent in forks])
    return trimmed(line, thread.oldest) if thread.oldest else line


async def list_checkpoints(
    connection: Connection,
    schema: Schema,
    key: ThreadKey,
    *,
    before_version: int | None,
    limit: int,
    at_version: int | None,
) -> Sequence[CheckpointRecord]:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        return ()
    line = thread.line if at_version is None else await line_to(connection, schema, thread, at_version)
    if not line:
        return ()
    spans = _end_of(line, before_version, limit)
    rows = await connection.fetch(
        schema.sql(_HISTORY),
        key.tenant,
        key.thread_id,
        [first for first, _ in spans],
        [last for _, last in spans],
        limit,
    )
    return [checkpoint_record(tuple(row)) for row in rows]


def _end_of(line: Line, before_version: int | None, limit: int) -> list[tuple[int, int]]:
    """The ranges of the last so many versions of a line, below a version: all of a range are stored."""
    spans = []
    for first, newest in reversed(line):
        last = newest if before_version is None else min(newest, before_version - 1)
        count = min(limit, last - first + 1)
        if count > 0:
            spans.append((last - count + 1, last))
            limit -= count
    return spans


async def read_log(
    connection: Connection, schema: Schema, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
) -> Sequence[LogEntry]:
    """See the port."""
    rows = await connection.fetch(schema.sql(_LOG), key.tenant, key.thread_id, uid, after_version, limit)
    if not rows:
        thread = await find_thread(connection, schema, key)
        if thread is None or thread.record.uid != uid:
            raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
        return ()
    taken: list[asyncpg.Record] = []
    for row in rows:
        max_bytes -= row["bytes"]
        if taken and max_bytes < 0:
            break
        taken.append(row)
    places = [(position, row["version"]) for row in taken for position in row["positions"] or ()]
    messages = await connection.fetch(
        schema.sql(_LOG_MESSAGES),
        key.tenant,
        key.thread_id,
        [at for at, _ in places],
        [version for _, version in places],
    )
    at_place = {(each["position"], each["version"]): message_record(tuple(each)) for each in messages}
    first, last = taken[0]["version"], taken[-1]["version"]
    asked = [
        approval_record(tuple(row))
        for row in await connection.fetch(schema.sql(_LOG_APPROVALS), key.tenant, key.thread_id, first, last)
    ]
    return [
        LogEntry(
            checkpoint_record(tuple(row)[:CHECKPOINT_WIDTH]),
            tuple(at_place[at, row["version"]] for at in row["positions"] or () if (at, row["version"]) in at_place),
            tuple(one for one in asked if one.version == row["version"]),
        )
        for row in taken
    ]


async def list_starts(
    connection: Connection, schema: Schema, key: ThreadKey, uid: str, *, after_version: int, limit: int
) -> Sequence[CheckpointRecord]:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None or thread.record.uid != uid:
        raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
    # The condition is that of the index.
    query = (
        f"SELECT {CHECKPOINT} FROM clew.checkpoints c WHERE c.source IN (2, 7) AND c.tenant = $1 AND c.thread_id = $2 AND c.version > $3 "
        "ORDER BY c.version LIMIT $4"
    )
    rows = await connection.fetch(schema.sql(query), key.tenant, key.thread_id, after_version, limit)
    return [checkpoint_record(tuple(row)) for row in rows]


async def get_state(connection: Connection, schema: Schema, key: ThreadKey, version: int | None) -> State | None:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        return None
    line = thread.line if version is None else await line_to(connection, schema, thread, version)
    if line is None:
        return None
    on_head_line = version is None or contains(thread.line, version)
    pieces = await read_pieces(connection, schema, key, line, on_head_line=on_head_line, oldest=thread.oldest)
    if version is not None and not pieces.parts and await get_checkpoint(connection, schema, key, version) is None:
        # Its log was trimmed in this moment.
        return None
    return pieces.state()
