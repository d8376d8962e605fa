"""Rows as records, and text as it is stored. The order of columns here is the order in which every query names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg

from clew_storage import codes
from clew_storage.errors import DataCorrupt
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

THREAD = (
    "t.tenant, t.thread_id, t.uid, t.epoch, t.head, t.status, t.created_at_ms, t.updated_at_ms, t.revision, t.app, "
    "t.user_id, t.name, t.metadata"
)
OLDEST = "CASE WHEN t.oldest_of = t.uid THEN t.oldest ELSE 0 END"
THREAD_PLACE = f"t.line_start, t.line, t.run_version, t.attempt, t.cancel_run, t.cancel_attempt, {OLDEST}"
CHECKPOINT = "c.version, c.parent, c.run_version, c.attempt, c.status, c.source, c.step, c.next_position, c.created_at_ms, c.body"
# Where the messages of a checkpoint stand.
POSITIONS = "CASE WHEN c.position IS NULL THEN c.positions ELSE ARRAY[c.position] END"
MESSAGE = "m.version, m.position, m.number, m.message_id, m.role, m.other_role, m.created_at_ms, m.body"
APPROVAL = (
    "a.id, a.tenant, a.thread_id, a.uid, a.run_version, a.version, a.kind, a.state, a.created_at_ms, a.expires_at_ms, "
    "a.body, a.decided_at_ms, a.decision"
)
REQUEST = "r.request_hash, r.body_digest, r.verb, coalesce(r.uid, t.uid), r.version, r.created_at_ms, r.reply"

# How many columns each of them has, for rows that join several.
THREAD_WIDTH, PLACE_WIDTH, CHECKPOINT_WIDTH = 13, 7, 10

# The driver's classes are generic for the type checker alone.
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class StoredThread:
    """A thread's row. `attempt` and `cancel` are the (run, attempt) of the head and of the one to be cancelled.

    `oldest` is where its log begins once it was trimmed, or 0.
    """

    record: ThreadRecord
    line: Line
    attempt: tuple[int, int] | None
    cancel: tuple[int, int] | None
    oldest: int


def put_text(text: str) -> bytes:
    """Text as bytes, in which NUL is a character like any other."""
    return text.encode()


def get_text(stored: bytes) -> str:
    """The text."""
    try:
        return stored.decode()
    except UnicodeDecodeError as error:
        raise DataCorrupt("a stored text is not UTF-8") from error


def thread_record(row: Row) -> ThreadRecord:
    """From THREAD."""
    tenant, thread_id, uid, epoch, head, status, created, updated, revision, app, user_id, name, metadata = row
    return ThreadRecord(
        key=ThreadKey(tenant, thread_id),
        uid=uid,
        info=ThreadInfo(get_text(app), get_text(user_id), get_text(name), metadata, revision),
        head_version=head,
        head_status=None if status is None else codes.get_status(status),
        epoch=epoch,
        created_at_ms=created,
        updated_at_ms=updated,
    )


def stored_thread(row: Row) -> StoredThread:
    """From THREAD and THREAD_PLACE."""
    record = thread_record(row[:THREAD_WIDTH])
    place = row[THREAD_WIDTH : THREAD_WIDTH + PLACE_WIDTH]
    line_start, line, run_version, attempt, cancel_run, cancel_attempt, oldest = place
    earlier = () if line is None else decode_line(line)
    return StoredThread(
        record=record,
        line=(*earlier, (line_start, record.head_version)) if line_start else (),
        attempt=None if run_version is None else (run_version, attempt),
        cancel=None if cancel_run is None else (cancel_run, cancel_attempt),
        oldest=oldest,
    )


def checkpoint_record(row: Row) -> CheckpointRecord:
    """From CHECKPOINT."""
    version, parent, run_version, attempt, status, source, step, next_position, created_at_ms, body = row
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
    version, position, number, message_id, role, other_role, created_at_ms, body = row
    return MessageRecord(
        id=stored_message_id(version, number, message_id),
        version=version,
        position=position,
        role=get_text(other_role) if role is None else codes.get_role(role),
        created_at_ms=created_at_ms,
        body=body,
    )


def stored_message_id(version: int, number: int | None, message_id: bytes | None) -> str:
    """The id of a message's row."""
    return codes.get_message_id(get_text(message_id or b"") if number is None else number, version)


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
        id=get_text(approval_id),
        key=ThreadKey(tenant, thread_id),
        uid=uid,
        run_version=run_version,
        version=version,
        kind=get_text(kind),
        state=codes.get_approval_state(state),
        created_at_ms=created,
        expires_at_ms=expires,
        body=body,
        decided_at_ms=decided,
        decision=decision,
    )


def request_record(row: Row) -> RequestRecord:
    """From REQUEST."""
    request_hash, body_digest, verb, uid, version, created_at_ms, reply = row
    return RequestRecord(request_hash, body_digest, get_text(verb), uid, version, created_at_ms, reply)
