"""A thread's head and the checkpoints behind it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from clew_storage.errors import ThreadMissing
from clew_storage.lines import Line, contains, line_of, trimmed, truncate
from clew_storage.records import CheckpointRecord, Glance, Head, LogEntry, ThreadKey
from clew_storage.sqlite.approvals import asked_between, pending_of
from clew_storage.sqlite.places import bounds, number_of, place
from clew_storage.sqlite.rows import CHECKPOINT, MESSAGE, StoredThread, checkpoint_record, find_thread, message_record
from clew_storage.sqlite.states import State, read_state


def get_head(connection: sqlite3.Connection, key: ThreadKey) -> Head | None:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None:
        return None
    checkpoint = find_checkpoint(connection, thread.number, thread.record.head_version)
    asked = checkpoint is not None and thread.cancel == (checkpoint.run_version, checkpoint.attempt)
    pending = pending_of(connection, thread.number)
    return Head(thread.record, checkpoint, thread.line, pending, cancel_requested=asked, oldest_version=thread.oldest)


def get_glance(connection: sqlite3.Connection, key: ThreadKey) -> Glance:
    """See the port; the leases know the holder."""
    thread = find_thread(connection, key)
    if thread is None:
        return Glance()
    checkpoint = find_checkpoint(connection, thread.number, thread.record.head_version) if thread.cancel else None
    asked = checkpoint is not None and thread.cancel == (checkpoint.run_version, checkpoint.attempt)
    return Glance(thread.record.uid, thread.record.head_version, asked, epoch=thread.record.epoch)


def get_checkpoint(connection: sqlite3.Connection, key: ThreadKey, version: int) -> CheckpointRecord | None:
    """See the port."""
    thread = find_thread(connection, key)
    return find_checkpoint(connection, thread.number, version) if thread else None


def find_checkpoint(connection: sqlite3.Connection, thread_no: int, version: int) -> CheckpointRecord | None:
    """A stored checkpoint of a thread."""
    row = connection.execute(
        f"SELECT {CHECKPOINT} FROM checkpoints WHERE id = ?",  # noqa: S608 - the columns are ours
        (place(thread_no, version),),
    ).fetchone()
    return None if row is None else checkpoint_record(row)


def line_to(connection: sqlite3.Connection, thread: StoredThread, version: int) -> Line | None:
    """The line that ends at a stored version, on the head's line or off it; None where it is not stored."""
    if contains(thread.line, version):
        return truncate(thread.line, version) if version >= thread.oldest else None
    if find_checkpoint(connection, thread.number, version) is None:
        return None
    forks = connection.execute(
        "SELECT id, parent FROM checkpoints INDEXED BY forks WHERE parent IS NOT NULL AND id BETWEEN ? AND ? ORDER BY id",
        (place(thread.number, 0), place(thread.number, version)),
    )
    line = line_of(version, [(number_of(key), parent) for key, parent in forks])
    return trimmed(line, thread.oldest) if thread.oldest else line


def list_checkpoints(
    connection: sqlite3.Connection,
    key: ThreadKey,
    before_version: int | None,
    limit: int,
    at_version: int | None = None,
) -> Sequence[CheckpointRecord]:
    """See the port."""
    thread = find_thread(connection, key)
    found: list[CheckpointRecord] = []
    if thread is None:
        return found
    line = thread.line if at_version is None else line_to(connection, thread, at_version) or ()
    for first, last in reversed(line):
        if len(found) >= limit:
            break
        newest = last if before_version is None else min(last, before_version - 1)
        rows = connection.execute(
            f"SELECT {CHECKPOINT} FROM checkpoints WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?",  # noqa: S608
            (place(thread.number, first), place(thread.number, newest), limit - len(found)),
        )
        found += map(checkpoint_record, rows)
    return found


def read_log(
    connection: sqlite3.Connection, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
) -> Sequence[LogEntry]:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None or thread.record.uid != uid:
        raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
    number = thread.number
    rows = connection.execute(
        f"SELECT {CHECKPOINT}, messages_end FROM checkpoints WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",  # noqa: S608
        (place(number, after_version), bounds(number)[1], limit),
    )
    begin = messages_end(connection, number, after_version)
    entries: list[LogEntry] = []
    for row in rows:
        span = (place(number, begin), place(number, row[-1]))
        size = connection.execute(
            "SELECT coalesce(sum(length(body)), 0) FROM messages WHERE id >= ? AND id < ?", span
        ).fetchone()[0]
        max_bytes -= size
        if entries and max_bytes < 0:
            break
        messages = connection.execute(
            f"SELECT {MESSAGE} FROM messages WHERE id >= ? AND id < ? ORDER BY id",  # noqa: S608
            span,
        )
        checkpoint = checkpoint_record(row[:-1])
        entries.append(LogEntry(checkpoint, tuple(map(message_record, messages)), ()))
        begin = row[-1]
    return _with_approvals(connection, number, entries)


def list_starts(
    connection: sqlite3.Connection, key: ThreadKey, uid: str, *, after_version: int, limit: int
) -> Sequence[CheckpointRecord]:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None or thread.record.uid != uid:
        raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
    # The condition is the index's own, word for word, or SQLite would not use it.
    rows = connection.execute(
        f"SELECT {CHECKPOINT} FROM checkpoints INDEXED BY starts "  # noqa: S608 - the columns are ours
        "WHERE source IN (2, 7) AND id > ? AND id <= ? ORDER BY id LIMIT ?",
        (place(thread.number, after_version), bounds(thread.number)[1], limit),
    )
    return list(map(checkpoint_record, rows))


def _with_approvals(connection: sqlite3.Connection, thread_no: int, entries: list[LogEntry]) -> list[LogEntry]:
    if not entries:
        return entries
    first, last = entries[0].checkpoint.version, entries[-1].checkpoint.version
    asked = asked_between(connection, thread_no, first, last)
    return [
        LogEntry(
            entry.checkpoint, entry.messages, tuple(one for one in asked if one.version == entry.checkpoint.version)
        )
        for entry in entries
    ]


def messages_end(connection: sqlite3.Connection, thread_no: int, version: int) -> int:
    """How many messages were written up to a version, stored or not."""
    row = connection.execute(
        "SELECT messages_end FROM checkpoints WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
        (place(thread_no, 0), place(thread_no, version)),
    ).fetchone()
    if row is None:
        row = connection.execute("SELECT oldest_begin FROM threads WHERE thread_no = ?", (thread_no,)).fetchone()
    return 0 if row is None else int(row[0])


def get_state(connection: sqlite3.Connection, key: ThreadKey, version: int | None) -> State | None:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None:
        return None
    line = thread.line if version is None else line_to(connection, thread, version)
    if line is None:
        return None
    on_head_line = version is None or contains(thread.line, version)
    return read_state(connection, thread.number, line, on_head_line=on_head_line)
