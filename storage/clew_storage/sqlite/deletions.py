"""The end of a thread: every row of content goes, the tombstone stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from clew_storage.errors import VersionConflict
from clew_storage.records import RequestRecord, ThreadKey, ThreadRecord
from clew_storage.sqlite.approvals import pending_of
from clew_storage.sqlite.erasures import wiping
from clew_storage.sqlite.places import bounds
from clew_storage.sqlite.requests import put_request, refuse_recorded
from clew_storage.sqlite.rows import StoredThread, find_thread


def delete_thread(
    connection: sqlite3.Connection,
    key: ThreadKey,
    *,
    request: RequestRecord | None,
    now_ms: int,
    epoch: int,
    expected_version: int | None,
) -> bool:
    """See the port; `epoch` is larger than every one granted so far."""
    refuse_recorded(connection, key, request)
    thread = find_thread(connection, key)
    if thread is None:
        return False
    if expected_version is not None and expected_version != thread.record.head_version:
        raise VersionConflict(expected_version, thread.record.head_version)
    with wiping(connection):
        _bury(connection, thread, request=request, now_ms=now_ms, epoch=epoch)
    return True


def delete_idle(
    connection: sqlite3.Connection, threads: Sequence[ThreadRecord], *, now_ms: int, epoch: int
) -> list[ThreadKey]:
    """See the port; of the threads only those come that nobody else can hold now."""
    gone = []
    with wiping(connection):
        for judged in threads:
            thread = find_thread(connection, judged.key)
            if thread is not None and _is_as(thread.record, judged) and not pending_of(connection, thread.number):
                _bury(connection, thread, request=None, now_ms=now_ms, epoch=epoch)
                gone.append(judged.key)
    return gone


def _is_as(found: ThreadRecord, judged: ThreadRecord) -> bool:
    return (found.uid, found.head_version, found.updated_at_ms) == (
        judged.uid,
        judged.head_version,
        judged.updated_at_ms,
    )


def _bury(
    connection: sqlite3.Connection, thread: StoredThread, *, request: RequestRecord | None, now_ms: int, epoch: int
) -> None:
    number, uid = thread.number, thread.record.uid
    for table in ("checkpoints", "messages", "state_changes", "folds"):
        connection.execute(f"DELETE FROM {table} WHERE id BETWEEN ? AND ?", bounds(number))  # noqa: S608
    connection.execute("DELETE FROM approvals WHERE thread_no = ?", (number,))
    put_request(connection, number, request, uid)
    connection.execute("UPDATE requests SET uid = ? WHERE thread_no = ? AND uid IS NULL", (uid, number))
    connection.execute(
        "UPDATE threads SET uid = NULL, epoch = ?, head = 0, status = NULL, line_start = 0, line = NULL, "
        "messages_end = 0, cancel_run = NULL, cancel_attempt = NULL, updated_at_ms = ?, revision = 0, app = '', "
        "user_id = '', name = '', metadata = x'', oldest = 0, oldest_begin = 0 WHERE thread_no = ?",
        (epoch, now_ms, number),
    )
