"""Rows as records. The order of columns here is the order in which every query names them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clew_storage import codes
from clew_storage.lines import Line, decode_line
from clew_storage.records import (
    ApprovalRecord,
    CheckpointRecord,
    MessageRecord,
    RequestRecord,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
)
from clew_storage.sqlite.places import number_of

THREAD = (
    "t.thread_no, t.tenant, t.thread_id, t.uid, t.epoch, t.head, t.status, t.created_at_ms, t.updated_at_ms, "
    "t.revision, t.app, t.user_id, t.name, t.metadata"
)
THREAD_PLACE = "t.line_start, t.line, t.messages_end, t.cancel_run, t.cancel_attempt, t.oldest"
CHECKPOINT = "id, parent, run_version, attempt, status, source, step, next_position, created_at_ms, body"
MESSAGE = "version, position, message_id, role, created_at_ms, body"
APPROVAL = (
    "a.id, t.tenant, t.thread_id, a.uid, a.run_version, a.version, a.kind, a.state, a.created_at_ms, "
    "a.expires_at_ms, a.body, a.decided_at_ms, a.decision"
)
REQUEST = "r.request_hash, r.body_digest, r.verb, coalesce(r.uid, t.uid), r.version, r.created_at_ms, r.reply"

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class StoredThread:
    """A thread's row. `messages_end` is the number of messages it has had; `cancel` the (run, attempt) to be cancelled.

    `oldest` is where its log begins once it was trimmed, or 0.
    """

    number: int
    record: ThreadRecord
    line: Line
    messages_end: int
    cancel: tuple[int, int] | None
    oldest: int


def thread_record(row: Row) -> ThreadRecord:
    """From THREAD."""
    _, tenant, thread_id, uid, epoch, head, status, created, updated, revision, app, user_id, name, metadata = row
    return ThreadRecord(
        key=ThreadKey(tenant, thread_id),
        uid=uid,
        info=ThreadInfo(app, user_id, name, metadata, revision),
        head_version=head,
        head_status=None if status is None else codes.get_status(status),
        epoch=epoch,
        created_at_ms=created,
        updated_at_ms=updated,
    )


def find_thread(connection: sqlite3.Connection, key: ThreadKey) -> StoredThread | None:
    """The living thread of that name."""
    row = connection.execute(
        f"SELECT {THREAD}, {THREAD_PLACE} FROM threads t WHERE tenant = ? AND thread_id = ? AND uid IS NOT NULL",  # noqa: S608
        (key.tenant, key.thread_id),
    ).fetchone()
    if row is None:
        return None
    record = thread_record(row[:14])
    line_start, line, messages_end, cancel_run, cancel_attempt, oldest = row[14:]
    earlier = () if line is None else decode_line(line)
    return StoredThread(
        number=row[0],
        record=record,
        line=(*earlier, (line_start, record.head_version)) if line_start else (),
        messages_end=messages_end,
        cancel=None if cancel_run is None else (cancel_run, cancel_attempt),
        oldest=oldest,
    )


def find_name(connection: sqlite3.Connection, key: ThreadKey) -> tuple[int, int] | None:
    """The number and the epoch of a thread id, of a living thread or a tombstone."""
    found: tuple[int, int] | None = connection.execute(
        "SELECT thread_no, epoch FROM threads WHERE tenant = ? AND thread_id = ?", (key.tenant, key.thread_id)
    ).fetchone()
    return found


def checkpoint_record(row: Row) -> CheckpointRecord:
    """From CHECKPOINT."""
    key, parent, run_version, attempt, status, source, step, next_position, created_at_ms, body = row
    version = number_of(key)
    return CheckpointRecord(
        version=version,
        parent_version=version - 1 if parent is None else parent,
        run_version=run_version,
        attempt=attempt,
        status=codes.get_status(status),
        source=codes.get_source(source),
        step=step,
        next_position=next_position,
        created_at_ms=created_at_ms,
        body=body,
    )


def message_record(row: Row) -> MessageRecord:
    """From MESSAGE."""
    version, position, message_id, role, created_at_ms, body = row
    return MessageRecord(
        codes.get_message_id(message_id, version), version, position, codes.get_role(role), created_at_ms, body
    )


def approval_record(row: Row) -> ApprovalRecord:
    """From APPROVAL."""
    (
        approval_id,
        tenant,
        thread_id,
        uid,
        run_version,
        version,
        kind,
        state,
        created,
        expires,
        body,
        decided,
        decision,
    ) = row
    return ApprovalRecord(
        id=approval_id,
        key=ThreadKey(tenant, thread_id),
        uid=uid,
        run_version=run_version,
        version=version,
        kind=kind,
        state=codes.get_approval_state(state),
        created_at_ms=created,
        expires_at_ms=expires,
        body=body,
        decided_at_ms=decided,
        decision=decision,
    )


def request_record(row: Row) -> RequestRecord:
    """From REQUEST."""
    return RequestRecord(*row)
