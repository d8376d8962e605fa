"""Committed requests on disk. They belong to the thread id and outlive the thread."""

from __future__ import annotations

from typing import Any

from clew_storage.errors import RequestRecorded
from clew_storage.postgres.rows import REQUEST, Connection, put_text, request_record
from clew_storage.postgres.schemas import Schema
from clew_storage.records import RequestRecord, ThreadKey

# A sweep leaves room for writers between its parts.
SWEEP = 1000


def request_columns(request: RequestRecord | None) -> tuple[Any, ...]:
    """A request as arguments of a function: hash, digest, verb, uid, version, created_at_ms, reply."""
    if request is None:
        return (None,) * 7
    return (
        request.request_hash,
        request.body_digest,
        put_text(request.verb),
        request.uid,
        request.version,
        request.created_at_ms,
        request.reply,
    )


def recorded() -> RequestRecorded:
    """The refusal of a request that was committed before."""
    return RequestRecorded("a mutation with this request id was committed before")


async def find_request(
    connection: Connection, schema: Schema, key: ThreadKey, request_hash: bytes
) -> RequestRecord | None:
    """See the port."""
    row = await connection.fetchrow(
        schema.sql(
            f"SELECT {REQUEST} FROM clew.requests r JOIN clew.threads t ON t.tenant = r.tenant AND t.thread_id = r.thread_id "
            "WHERE r.tenant = $1 AND r.thread_id = $2 AND r.request_hash = $3"
        ),
        key.tenant, key.thread_id, request_hash,
    )  # fmt: skip
    return None if row is None else request_record(tuple(row))


async def forget_some(connection: Connection, schema: Schema, before_ms: int) -> int:
    """Drop up to `SWEEP` old requests; when none is left, the tombstones that were kept for them."""
    dropped = await connection.fetchval(
        schema.sql(
            "WITH old AS (SELECT r.tenant, r.thread_id, r.request_hash FROM clew.requests r WHERE r.created_at_ms < $1 "
            "LIMIT $2 FOR UPDATE SKIP LOCKED), "
            "dropped AS (DELETE FROM clew.requests r USING old WHERE r.tenant = old.tenant AND r.thread_id = old.thread_id "
            "AND r.request_hash = old.request_hash RETURNING 1) SELECT count(*) FROM dropped"
        ),
        before_ms, SWEEP,
    )  # fmt: skip
    if dropped < SWEEP:
        await connection.execute(
            schema.sql(
                "WITH old AS (SELECT t.tenant, t.thread_id FROM clew.threads t WHERE t.deleted_at_ms < $1 "
                "AND NOT EXISTS (SELECT FROM clew.requests r WHERE r.tenant = t.tenant AND r.thread_id = t.thread_id) "
                "FOR UPDATE SKIP LOCKED) "
                "DELETE FROM clew.threads t USING old WHERE t.tenant = old.tenant AND t.thread_id = old.thread_id"
            ),
            before_ms,
        )
    return int(dropped)
