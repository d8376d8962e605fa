"""Committed requests on disk. They belong to the thread id and outlive the thread."""

from __future__ import annotations

import sqlite3

from clew_storage.errors import RequestRecorded
from clew_storage.records import RequestRecord, ThreadKey
from clew_storage.sqlite.rows import REQUEST, request_record

# A sweep leaves room for writers between its parts.
SWEEP = 1000
_REQUEST_ROW = (
    "INTO requests (thread_no, request_hash, body_digest, verb, uid, version, created_at_ms, reply) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


def refuse_recorded(connection: sqlite3.Connection, key: ThreadKey, request: RequestRecord | None) -> None:
    """Raise `RequestRecorded` for a request that was committed before."""
    if request is not None and find_request(connection, key, request.request_hash) is not None:
        raise RequestRecorded("a mutation with this request id was committed before")


def put_request(connection: sqlite3.Connection, thread_no: int, request: RequestRecord | None, uid: str) -> None:
    """Remember a request; `uid` is the living thread's."""
    if request is not None:
        connection.execute(f"INSERT {_REQUEST_ROW}", _request_row(thread_no, request, uid))


def insert_request(connection: sqlite3.Connection, thread_no: int, request: RequestRecord, uid: str) -> None:
    """Remember a request that another database knew, unless this one knows it already."""
    connection.execute(f"INSERT OR IGNORE {_REQUEST_ROW}", _request_row(thread_no, request, uid))


def _request_row(thread_no: int, request: RequestRecord, uid: str) -> tuple[object, ...]:
    return (
        thread_no,
        request.request_hash,
        request.body_digest,
        request.verb,
        None if request.uid == uid else request.uid,
        request.version,
        request.created_at_ms,
        request.reply,
    )


def find_request(connection: sqlite3.Connection, key: ThreadKey, request_hash: bytes) -> RequestRecord | None:
    """See the port."""
    row = connection.execute(
        f"SELECT {REQUEST} FROM threads t JOIN requests r ON r.thread_no = t.thread_no "  # noqa: S608 - the columns are ours
        "WHERE t.tenant = ? AND t.thread_id = ? AND r.request_hash = ?",
        (key.tenant, key.thread_id, request_hash),
    ).fetchone()
    return None if row is None else request_record(row)


def forget_some(connection: sqlite3.Connection, before_ms: int) -> int:
    """Drop up to `SWEEP` old requests; when none is left, the tombstones that were kept for them."""
    dropped = connection.execute(
        "DELETE FROM requests WHERE request_no IN (SELECT request_no FROM requests WHERE created_at_ms < ? LIMIT ?)",
        (before_ms, SWEEP),
    ).rowcount
    if dropped < SWEEP:
        connection.execute(
            "DELETE FROM threads WHERE uid IS NULL AND updated_at_ms < ? "
            "AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.thread_no = threads.thread_no)",
            (before_ms,),
        )
    return dropped
