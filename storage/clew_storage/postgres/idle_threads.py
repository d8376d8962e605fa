"""Threads that nobody has used for a while, looked up in parts of the index of names."""

from __future__ import annotations

from clew_storage.codes import PENDING, put_status
from clew_storage.postgres.rows import OLDEST, THREAD, Connection, put_text, thread_record
from clew_storage.postgres.schemas import Schema
from clew_storage.records import IdleFilter, Status, ThreadKey, ThreadRecord

# So many threads are looked at in one statement.
_PART = 2000
_END = """
SELECT t.tenant, t.thread_id FROM clew.threads t WHERE (t.tenant, t.thread_id) > ($1, $2)
ORDER BY t.tenant, t.thread_id OFFSET $3 LIMIT 1
"""
_STATUS = f"""
CASE WHEN EXISTS (
    SELECT FROM clew.approvals a WHERE a.tenant = t.tenant AND a.thread_id = t.thread_id AND a.state = {PENDING}
) THEN {put_status(Status.SUSPENDED)} ELSE t.status END
"""
_IN_USE = """
EXISTS (
    SELECT FROM clew.leases l WHERE l.tenant = t.tenant AND l.thread_id = t.thread_id AND l.server IS NOT NULL
        AND l.expires_at > clock_timestamp()
) OR EXISTS (
    SELECT FROM clew.tickets w WHERE w.tenant = t.tenant AND w.thread_id = t.thread_id AND NOT w.dismissed
        AND w.expires_at > clock_timestamp()
)
"""
_IDLE = f"""
SELECT {THREAD} FROM clew.threads t
WHERE t.uid IS NOT NULL AND (t.tenant, t.thread_id) > ($1, $2)
    AND ($3::text IS NULL OR (t.tenant, t.thread_id) <= ($3, $4::text))
    AND ($5::smallint[] = '{{}}' OR {_STATUS} = ANY ($5))
    AND ($6::bigint IS NULL OR t.updated_at_ms < $6)
    AND ($7::bytea[] = '{{}}' OR t.app = ANY ($7))
    AND ($8::bytea[] = '{{}}' OR t.user_id = ANY ($8))
    AND t.head - greatest({OLDEST} - 1, 0) > $9::bigint
    AND NOT ({_IN_USE})
ORDER BY t.tenant, t.thread_id
"""


async def list_idle(
    connection: Connection, schema: Schema, where: IdleFilter, after: ThreadKey | None
) -> tuple[list[ThreadRecord], ThreadKey | None]:
    """What the next part has, and where the part after it begins (None: that was the last)."""
    start = ("", "") if after is None else (after.tenant, after.thread_id)
    last = await connection.fetchrow(schema.sql(_END), *start, _PART - 1)
    rows = await connection.fetch(
        schema.sql(_IDLE),
        *start,
        *((None, None) if last is None else tuple(last)),
        list(map(put_status, where.statuses)),
        where.before_ms,
        list(map(put_text, where.apps)),
        list(map(put_text, where.user_ids)),
        where.longer_than,
    )
    return [thread_record(tuple(row)) for row in rows], None if last is None else ThreadKey(*last)
