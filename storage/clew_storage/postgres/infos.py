"""What is known of threads: listed, changed, marked for cancelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew_storage.codes import put_status
from clew_storage.errors import RevisionConflict, ThreadMissing
from clew_storage.postgres.requests import recorded, request_columns
from clew_storage.postgres.rows import THREAD, Connection, put_text, thread_record
from clew_storage.postgres.schemas import Schema
from clew_storage.records import (
    InfoChange,
    RequestRecord,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
)
from clew_storage.thread_filters import matches

# Rows that a look through threads takes at a time: few to begin with, since most filters are met soon.
_FIRST_LOOK, _LONGEST_LOOK = 100, 5000

# Threads and leases are looked up one by one, so that no plan looks through all of them.
_INTERRUPTED = f"""
SELECT {THREAD} FROM clew.in_progress p
CROSS JOIN LATERAL (
    SELECT * FROM clew.threads x WHERE x.tenant = p.tenant AND x.thread_id = p.thread_id LIMIT 1
) AS t
WHERE ($2::text IS NULL OR (p.tenant, p.thread_id) > ($2, $3::text)) AND t.app = ANY ($1::bytea[]) AND (
    SELECT l.epoch FROM clew.leases l WHERE l.tenant = p.tenant AND l.thread_id = p.thread_id AND l.server IS NOT NULL
        AND l.expires_at > clock_timestamp()
) IS NULL
ORDER BY p.tenant, p.thread_id LIMIT $4
"""


async def change_info(
    connection: Connection,
    schema: Schema,
    key: ThreadKey,
    change: InfoChange,
    *,
    create: ThreadRecord | None,
    request: RequestRecord | None,
    now_ms: int,
) -> ThreadRecord:
    """See the port."""
    made: tuple[Any, ...] = (None,) * 6
    if create is not None:
        info = create.info
        made = (create.uid, create.created_at_ms, *map(put_text, (info.app, info.user_id, info.name)), info.metadata)
    row = await connection.fetchrow(
        schema.sql(f"SELECT * FROM clew.change_info_1({', '.join(f'${number}' for number in range(1, 21))})"),
        key.tenant,
        key.thread_id,
        None if change.name is None else put_text(change.name),
        change.metadata,
        None if change.user_id is None else put_text(change.user_id),
        change.expected_revision,
        now_ms,
        *made,
        *request_columns(request),
    )
    assert row is not None
    refusal, detail, *record = row
    if refusal == 1:
        raise recorded()
    if refusal == 7:
        raise ThreadMissing("there is no such thread")
    if refusal == 8:
        raise RevisionConflict(change.expected_revision or 0, detail)
    return thread_record(record)


async def request_cancel(
    connection: Connection,
    schema: Schema,
    key: ThreadKey,
    uid: str,
    run_version: int,
    attempt: int,
    *,
    request: RequestRecord | None,
) -> bool:
    """See the port."""
    row = await connection.fetchrow(
        schema.sql("SELECT * FROM clew.request_cancel_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"),
        key.tenant, key.thread_id, uid, run_version, attempt, *request_columns(request),
    )  # fmt: skip
    assert row is not None
    done, was_recorded = row
    if was_recorded:
        raise recorded()
    return bool(done)


async def list_threads(
    connection: Connection,
    schema: Schema,
    tenant: str,
    where: ThreadFilter,
    *,
    by_update: bool,
    after: tuple[int, str] | None,
    limit: int,
) -> list[ThreadRecord]:
    """See the port. What looks inside a value is decided here and not by the database, as on every backend."""
    looks_inside = where.metadata is not None or where.text is not None
    found: list[ThreadRecord] = []
    size = _FIRST_LOOK if looks_inside else limit
    while len(found) < limit:
        query, values = _page(tenant, where, by_update=by_update, after=after, limit=size)
        page = [thread_record(tuple(row)) for row in await connection.fetch(schema.sql(query), *values)]
        found += (thread for thread in page if matches(thread, where))
        if len(page) < size or not looks_inside:
            break
        last = page[-1]
        after = (last.updated_at_ms if by_update else last.created_at_ms, last.key.thread_id)
        size = min(size * 4, _LONGEST_LOOK)
    return found[:limit]


def _page(
    tenant: str, where: ThreadFilter, *, by_update: bool, after: tuple[int, str] | None, limit: int
) -> tuple[str, list[Any]]:
    time = "t.updated_at_ms" if by_update else "t.created_at_ms"
    values: list[Any] = [tenant]

    def value(given: Any) -> str:
        values.append(given)
        return f"${len(values)}"

    wanted = ["t.uid IS NOT NULL AND t.tenant = $1"]
    if where.user_id is not None:
        # The second part is what lets the index of users apply.
        wanted.append(
            f"t.user_id = {value(put_text(where.user_id))}" + (" AND t.user_id <> ''" if where.user_id else "")
        )
    if where.app is not None:
        wanted.append(f"t.app = {value(put_text(where.app))}")
    if where.status is not None:
        wanted.append(f"t.status = {value(put_status(where.status))}")
    if after is not None:
        at, name = f"{value(after[0])}::bigint", value(after[1])
        wanted.append(f"{time} <= {at} AND ({time} < {at} OR t.thread_id > {name})")
    query = f"SELECT {THREAD} FROM clew.threads t WHERE {' AND '.join(wanted)} ORDER BY {time} DESC, t.thread_id LIMIT {value(limit)}"
    return query, values


async def list_interrupted(
    connection: Connection, schema: Schema, apps: Sequence[str], *, after: ThreadKey | None, limit: int
) -> list[ThreadRecord]:
    """See the port."""
    place = (None, None) if after is None else (after.tenant, after.thread_id)
    rows = await connection.fetch(schema.sql(_INTERRUPTED), [put_text(app) for app in apps], *place, limit)
    return [thread_record(tuple(row)) for row in rows]
