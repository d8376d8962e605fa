"""One append to a thread: every refusal in the port's order, then all that the write brings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from clew_storage import codes
from clew_storage.errors import CheckpointMissing, LeaseLost, VersionConflict
from clew_storage.lines import Line, contains, extend
from clew_storage.records import CheckpointRecord, MessageRecord, Write, Written
from clew_storage.sqlite.approvals import decide, put_approvals
from clew_storage.sqlite.erasures import erase
from clew_storage.sqlite.heads import line_to
from clew_storage.sqlite.infos import make_thread, move_head, save_info
from clew_storage.sqlite.places import place
from clew_storage.sqlite.requests import put_request, refuse_recorded
from clew_storage.sqlite.rows import StoredThread, find_name, find_thread
from clew_storage.sqlite.states import State, put_change, put_fork_change, read_state
from clew_storage.thread_records import after_write


@dataclass(frozen=True, slots=True)
class Base:
    """What a checkpoint continues: a line, the number of messages so far, and after a fork the state there."""

    line: Line
    messages_end: int
    state: State | None = None


def append(connection: sqlite3.Connection, write: Write, *, admitted: bool) -> Written:
    """Append one checkpoint; `admitted` says whether the write's epoch holds the lease."""
    refuse_recorded(connection, write.key, write.request)
    thread = find_thread(connection, write.key)
    _refuse(connection, thread, write, admitted=admitted)
    decide(connection, thread.number if thread else None, write)
    base = _base(connection, thread, write)
    if thread is not None:
        erase(connection, thread, write)
    record = after_write(thread.record if thread else None, write)
    if thread is None:
        number, record = make_thread(connection, record)
    else:
        number = thread.number
        if record.info != thread.record.info:
            save_info(connection, number, record)
    attempt = (write.checkpoint.run_version, write.checkpoint.attempt)
    asked = thread is not None and thread.cancel == attempt
    end = put_write(connection, number, write, base)
    move_head(
        connection,
        number,
        record,
        line=extend(base.line, record.head_version),
        messages_end=end,
        cancel=attempt if asked else None,
    )
    return Written(record, cancel_requested=asked)


def _refuse(connection: sqlite3.Connection, thread: StoredThread | None, write: Write, *, admitted: bool) -> None:
    if not admitted:
        raise LeaseLost("the lease that this write was made under is no longer held")
    if thread is None:
        # A delete that shares this commit has left a larger epoch: the lease is about to be revoked.
        name = find_name(connection, write.key)
        if write.expected_version != 0 or (name is not None and name[1] > write.epoch):
            raise LeaseLost("the thread was deleted meanwhile")
        return
    if thread.record.uid != write.uid:
        raise LeaseLost("the thread was deleted and made anew meanwhile")
    if thread.record.head_version != write.expected_version:
        raise VersionConflict(write.expected_version, thread.record.head_version)


def _base(connection: sqlite3.Connection, thread: StoredThread | None, write: Write) -> Base:
    if write.fork_of is None:
        return Base(thread.line, thread.messages_end) if thread else Base((), 0)
    line = line_to(connection, thread, write.fork_of) if thread else None
    if thread is None or line is None:
        raise CheckpointMissing(f"there is no checkpoint {write.fork_of}")
    on_head_line = contains(thread.line, write.fork_of)
    state = read_state(connection, thread.number, line, on_head_line=on_head_line)
    return Base(line, thread.messages_end, state)


def put_write(connection: sqlite3.Connection, number: int, write: Write, base: Base) -> int:
    """Add the rows of a write; the number of messages that the thread has had with it."""
    checkpoint = write.checkpoint
    end = base.messages_end + len(write.messages)
    put_checkpoint(connection, number, checkpoint, end)
    put_messages(connection, number, write.messages, base.messages_end)
    if base.state is not None:
        put_fork_change(connection, number, checkpoint.version, write.state, base.state)
    elif write.state is not None:
        put_change(connection, number, checkpoint.version, write.state)
    put_approvals(connection, number, write)
    put_request(connection, number, write.request, write.uid)
    return end


def put_checkpoint(
    connection: sqlite3.Connection, number: int, checkpoint: CheckpointRecord, messages_end: int
) -> None:
    """Add the row of a checkpoint; `messages_end` is how many messages the thread has had with it."""
    connection.execute(
        "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            place(number, checkpoint.version),
            None if checkpoint.parent_version == checkpoint.version - 1 else checkpoint.parent_version,
            checkpoint.run_version,
            checkpoint.attempt,
            codes.put_status(checkpoint.status),
            codes.put_source(checkpoint.source),
            checkpoint.step,
            checkpoint.next_position,
            checkpoint.created_at_ms,
            messages_end,
            checkpoint.body,
        ),
    )


def put_messages(connection: sqlite3.Connection, number: int, messages: Sequence[MessageRecord], begin: int) -> None:
    """Add the rows of messages, the first as the one after `begin` others."""
    connection.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                place(number, begin + index),
                number,
                message.version,
                message.position,
                codes.put_message_id(message.id, message.version),
                codes.put_role(message.role),
                message.created_at_ms,
                message.body,
            )
            for index, message in enumerate(messages)
        ],
    )
