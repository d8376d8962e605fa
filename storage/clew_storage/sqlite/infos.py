"""What is known of threads: listed, changed, marked for cancelling."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clew_storage.codes import IN_PROGRESS, put_status
from clew_storage.lines import Line, encode_line
from clew_storage.records import (
    InfoChange,
    RequestRecord,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
)
from clew_storage.sqlite.places import place
from clew_storage.sqlite.requests import put_request, refuse_recorded
from clew_storage.sqlite.rows import THREAD, find_name, find_thread, thread_record
from clew_storage.thread_records import after_change


def make_thread(connection: sqlite3.Connection, record: ThreadRecord) -> tuple[int, ThreadRecord]:
    """Add a thread, in the place of its tombstone where there is one; its number, and the record with the epoch it has.

    The line comes with the first write.
    """
    known = find_name(connection, record.key)
    if known is not None:
        record = replace(record, epoch=max(record.epoch, known[1]))
    info = record.info
    made = connection.execute(
        "INSERT OR REPLACE INTO threads (thread_no, tenant, thread_id, uid, epoch, head, line_start, messages_end, "
        "created_at_ms, updated_at_ms, revision, app, user_id, name, metadata) "
        "VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, ?)",
        (
            known[0] if known else None,
            record.key.tenant,
            record.key.thread_id,
            record.uid,
            record.epoch,
            record.head_version,
            record.created_at_ms,
            record.updated_at_ms,
            info.revision,
            info.app,
            info.user_id,
            info.name,
            info.metadata,
        ),
    )
    assert made.lastrowid is not None
    return made.lastrowid, record


def move_head(
    connection: sqlite3.Connection,
    thread_no: int,
    record: ThreadRecord,
    *,
    line: Line,
    messages_end: int,
    cancel: tuple[int, int] | None,
) -> None:
    """Write what every append changes. No indexed column is named, so no index is touched."""
    *earlier, (line_start, _) = line
    connection.execute(
        "UPDATE threads SET epoch = ?, head = ?, status = ?, line_start = ?, line = ?, messages_end = ?, "
        "cancel_run = ?, cancel_attempt = ?, updated_at_ms = ? WHERE thread_no = ?",
        (
            record.epoch,
            record.head_version,
            None if record.head_status is None else put_status(record.head_status),
            line_start,
            encode_line(tuple(earlier)) if earlier else None,
            messages_end,
            *(cancel or (None, None)),
            record.updated_at_ms,
            thread_no,
        ),
    )


def save_info(connection: sqlite3.Connection, thread_no: int, record: ThreadRecord) -> None:
    """Write a changed info."""
    info = record.info
    connection.execute(
        "UPDATE threads SET updated_at_ms = ?, revision = ?, app = ?, user_id = ?, name = ?, metadata = ? "
        "WHERE thread_no = ?",
        (record.updated_at_ms, info.revision, info.app, info.user_id, info.name, info.metadata, thread_no),
    )


def change_info(
    connection: sqlite3.Connection,
    key: ThreadKey,
    change: InfoChange,
    *,
    create: ThreadRecord | None,
    request: RequestRecord | None,
    now_ms: int,
) -> ThreadRecord:
    """See the port."""
    refuse_recorded(connection, key, request)
    thread = find_thread(connection, key)
    record = after_change(thread.record if thread else None, change, create=create, now_ms=now_ms)
    if thread is None:
        number, record = make_thread(connection, record)
    else:
        number = thread.number
        save_info(connection, number, record)
    put_request(connection, number, request, record.uid)
    return record


def request_cancel(
    connection: sqlite3.Connection,
    key: ThreadKey,
    uid: str,
    run_version: int,
    attempt: int,
    *,
    request: RequestRecord | None,
) -> bool:
    """See the port."""
    refuse_recorded(connection, key, request)
    thread = find_thread(connection, key)
    if thread is None or thread.record.uid != uid:
        return False
    row = connection.execute(
        "SELECT run_version, attempt, status FROM checkpoints WHERE id = ?",
        (place(thread.number, thread.record.head_version),),
    ).fetchone()
    if row != (run_version, attempt, IN_PROGRESS):
        return False
    connection.execute(
        "UPDATE threads SET cancel_run = ?, cancel_attempt = ? WHERE thread_no = ?",
        (run_version, attempt, thread.number),
    )
    put_request(connection, thread.number, request, uid)
    return True


def list_threads(
    connection: sqlite3.Connection,
    tenant: str,
    where: ThreadFilter,
    *,
    by_update: bool,
    after: tuple[int, str] | None,
    limit: int,
) -> list[ThreadRecord]:
    """See the port."""
    time = "t.updated_at_ms" if by_update else "t.created_at_ms"
    wanted: list[tuple[str, tuple[Any, ...]]] = [("t.uid IS NOT NULL AND t.tenant = ?", (tenant,))]
    if where.user_id is not None:
        # The second part is what lets the index of users apply.
        named = "t.user_id = ? AND t.user_id <> ''" if where.user_id else "t.user_id = ?"
        wanted.append((named, (where.user_id,)))
    if where.app is not None:
        wanted.append(("t.app = ?", (where.app,)))
    if where.status is not None:
        wanted.append(("t.status = ?", (put_status(where.status),)))
    if where.metadata is not None:
        wanted.append(("metadata_has(t.metadata, ?)", (where.metadata,)))
    if where.text is not None:
        wanted.append(("text_found(?, t.thread_id, t.name)", (where.text,)))
    if after is not None:
        wanted.append(
            (f"({time} < ? OR ({time} = ? AND t.thread_id > ?)) AND {time} <= ?", (after[0], *after, after[0]))
        )
    clauses = " AND ".join(clause for clause, _ in wanted)
    values = [value for _, group in wanted for value in group]
    rows = connection.execute(
        f"SELECT {THREAD} FROM threads t WHERE {clauses} ORDER BY {time} DESC, t.thread_id LIMIT ?",  # noqa: S608
        (*values, limit),
    )
    return list(map(thread_record, rows))


def list_in_progress(
    connection: sqlite3.Connection, apps: Sequence[str], after: ThreadKey | None, limit: int
) -> list[ThreadRecord]:
    """Threads of these apps whose head is in progress, by tenant and id, beyond the one that was seen last."""
    names = ", ".join("?" * len(apps))
    seen, values = (
        ("", ()) if after is None else ("AND (t.tenant, t.thread_id) > (?, ?) ", (after.tenant, after.thread_id))
    )
    # A cross join is taken in this order: the threads are looked up one by one, and never looked through.
    rows = connection.execute(
        f"SELECT {THREAD} FROM in_progress p CROSS JOIN threads t ON t.thread_no = p.thread_no "  # noqa: S608
        f"WHERE t.app IN ({names}) {seen}ORDER BY t.tenant, t.thread_id LIMIT ?",
        (*apps, *values, limit),
    )
    return list(map(thread_record, rows))
