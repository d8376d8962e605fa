"""Content that goes for good: rows of messages, what other rows say of them, and the bytes that either leaves in the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from clew_storage.lines import contains
from clew_storage.records import ApprovalRedaction, CheckpointRedaction, Write
from clew_storage.sqlite.heads import line_to
from clew_storage.sqlite.places import place
from clew_storage.sqlite.rows import StoredThread
from clew_storage.sqlite.transcripts import rows_of


@contextmanager
def wiping(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """Pages that become free are filled with zeros. Otherwise only what is freed within a page is, which costs no writes."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    try:
        yield
    finally:
        connection.execute("PRAGMA secure_delete = FAST").fetchall()


def erase(connection: sqlite3.Connection, thread: StoredThread, write: Write) -> None:
    """Delete the messages that the write erases, and let what it redacts say what is left."""
    if not (write.erased or write.redactions):
        return
    with wiping(connection):
        _erase_messages(connection, thread, write.erased)
        _redact(connection, thread, write)


def _erase_messages(connection: sqlite3.Connection, thread: StoredThread, ids: Sequence[str]) -> None:
    """Delete every row of these messages, and what stood at its place before it on the line that led to it."""
    gone: set[int] = set()
    for message_id in ids:
        for key, position, version in rows_of(connection, thread, message_id):
            line = line_to(connection, thread, version) or ()
            older = connection.execute(
                "SELECT id, version FROM messages WHERE thread_no = ? AND position = ? AND version < ?",
                (thread.number, position, version),
            )
            gone |= {key, *(other for other, at in older if contains(line, at))}
    connection.executemany("DELETE FROM messages WHERE id = ?", [(key,) for key in gone])


def _redact(connection: sqlite3.Connection, thread: StoredThread, write: Write) -> None:
    for redaction in write.redactions:
        match redaction:
            case CheckpointRedaction(version, body):
                connection.execute(
                    "UPDATE checkpoints SET body = ? WHERE id = ?", (body, place(thread.number, version))
                )
            case ApprovalRedaction(approval_id, body, decision):
                connection.execute(
                    "UPDATE approvals SET body = ?, decision = ? WHERE tenant = ? AND id = ? AND thread_no = ?",
                    (body, decision, write.key.tenant, approval_id, thread.number),
                )
