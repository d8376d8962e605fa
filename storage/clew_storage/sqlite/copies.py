"""A thread made from another one's line."""

from __future__ import annotations

import sqlite3

from msgspec.structs import replace

from clew_storage.errors import CheckpointMissing, ThreadExists, ThreadMissing
from clew_storage.lines import Line, contains, extend, since
from clew_storage.records import ThreadKey, ThreadRecord, Write, Written
from clew_storage.sqlite.appends import Base, put_write
from clew_storage.sqlite.heads import line_to, messages_end
from clew_storage.sqlite.infos import make_thread, move_head
from clew_storage.sqlite.places import place
from clew_storage.sqlite.requests import refuse_recorded
from clew_storage.sqlite.rows import StoredThread, find_thread
from clew_storage.sqlite.states import read_state
from clew_storage.thread_records import after_write

_CHECKPOINTS = (
    "INSERT INTO checkpoints SELECT id + ?, parent, run_version, attempt, status, source, step, next_position, "
    "created_at_ms, messages_end, body FROM checkpoints WHERE id BETWEEN ? AND ?"
)
_STATE_CHANGES = "INSERT INTO state_changes SELECT id + ?, change FROM state_changes WHERE id BETWEEN ? AND ?"
_MESSAGES = (
    "INSERT INTO messages SELECT id + ?, ?, version, position, message_id, role, created_at_ms, body FROM messages "
    "WHERE id >= ? AND id < ?"
)
_OLDEST = (
    "UPDATE threads SET (oldest, oldest_begin) = (SELECT oldest, oldest_begin FROM threads WHERE thread_no = ?) "
    "WHERE thread_no = ?"
)


def copy_thread(
    connection: sqlite3.Connection, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write
) -> Written:
    """See the port."""
    refuse_recorded(connection, target.key, write.request)
    origin = find_thread(connection, source)
    if origin is None or origin.record.uid != source_uid:
        raise ThreadMissing(f"there is no thread {source.thread_id} with that uid")
    line = None if write.fork_of is None else line_to(connection, origin, write.fork_of)
    if write.fork_of is None or not line:
        raise CheckpointMissing(f"there is no checkpoint {write.fork_of}")
    if find_thread(connection, target.key) is not None:
        raise ThreadExists(f"there is a thread {target.key.thread_id} already")
    on_head_line = contains(origin.line, write.fork_of)
    state = read_state(connection, origin.number, line, on_head_line=on_head_line)
    record = after_write(replace(target, head_version=write.fork_of), write)
    number, record = make_thread(connection, record)
    _copy_line(connection, origin, number, line)
    base = Base(line, messages_end(connection, number, write.fork_of), state)
    end = put_write(connection, number, write, base)
    move_head(connection, number, record, line=extend(line, record.head_version), messages_end=end, cancel=None)
    return Written(record, cancel_requested=False)


def _copy_line(connection: sqlite3.Connection, origin: StoredThread, made: int, line: Line) -> None:
    """Rows keep their numbers within the thread, so that a stretch of the log stays a stretch of messages."""
    number = origin.number
    shift = place(made, 0) - place(number, 0)
    for first, last in since(line, origin.oldest):
        span = (place(number, first), place(number, last))
        connection.execute(_CHECKPOINTS, (shift, *span))
        connection.execute(_STATE_CHANGES, (shift, *span))
        # Of a log that was trimmed the messages before it are the line's.
        begin = 0 if first == origin.oldest else messages_end(connection, number, first - 1)
        end = messages_end(connection, number, last)
        connection.execute(_MESSAGES, (shift, made, place(number, begin), place(number, end)))
    if origin.oldest:
        connection.execute(_OLDEST, (number, made))
