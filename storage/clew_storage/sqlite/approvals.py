"""Approvals on disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from clew_storage.codes import PENDING, put_approval_state
from clew_storage.errors import ApprovalNotPending
from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey, Write
from clew_storage.sqlite.rows import APPROVAL, approval_record

_FROM = f"SELECT {APPROVAL} FROM approvals a JOIN threads t ON t.thread_no = a.thread_no"  # noqa: S608 - the columns are ours
# Spelt out, so that the partial indexes of pending approvals apply.
_PENDING = f"a.state = {PENDING}"


def put_approvals(connection: sqlite3.Connection, thread_no: int | None, write: Write) -> None:
    """Void what is pending where the write says so, then add its own; decisions were made before."""
    now_ms = write.checkpoint.created_at_ms
    if write.void_approvals:
        connection.execute(
            f"UPDATE approvals AS a SET state = ?, decided_at_ms = ? WHERE thread_no = ? AND {_PENDING}",  # noqa: S608
            (put_approval_state(ApprovalState.VOID), now_ms, thread_no),
        )
    for asked in write.approvals:
        insert_approval(connection, write.key.tenant, thread_no, asked)


def insert_approval(connection: sqlite3.Connection, tenant: str, thread_no: int | None, asked: ApprovalRecord) -> None:
    """Add the row of an approval, as the last that the thread asked."""
    connection.execute(
        "INSERT INTO approvals (tenant, id, thread_no, uid, run_version, version, kind, state, created_at_ms, "
        "expires_at_ms, body, decided_at_ms, decision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant,
            asked.id,
            thread_no,
            asked.uid,
            asked.run_version,
            asked.version,
            asked.kind,
            put_approval_state(asked.state),
            asked.created_at_ms,
            asked.expires_at_ms,
            asked.body,
            asked.decided_at_ms,
            asked.decision,
        ),
    )


def decide(connection: sqlite3.Connection, thread_no: int | None, write: Write) -> None:
    """Make the write's decisions. Raises `ApprovalNotPending` for the first that cannot be made."""
    for made in write.decisions:
        changed = connection.execute(
            "UPDATE approvals AS a SET state = ?, decided_at_ms = ?, decision = ? "  # noqa: S608
            f"WHERE tenant = ? AND id = ? AND thread_no = ? AND {_PENDING}",
            (
                put_approval_state(made.state),
                write.checkpoint.created_at_ms,
                made.decision,
                write.key.tenant,
                made.approval_id,
                thread_no,
            ),
        )
        if changed.rowcount != 1:
            raise ApprovalNotPending(made.approval_id)


def pending_of(connection: sqlite3.Connection, thread_no: int) -> tuple[ApprovalRecord, ...]:
    """The approvals of a thread that wait, in the order they were asked."""
    rows = connection.execute(f"{_FROM} WHERE a.thread_no = ? AND {_PENDING} ORDER BY a.approval_no", (thread_no,))
    return tuple(map(approval_record, rows))


def asked_between(connection: sqlite3.Connection, thread_no: int, first: int, last: int) -> list[ApprovalRecord]:
    """The approvals that a stretch of the log asked for, in that order."""
    rows = connection.execute(
        f"{_FROM} WHERE a.thread_no = ? AND a.version BETWEEN ? AND ? ORDER BY a.version, a.approval_no",
        (thread_no, first, last),
    )
    return list(map(approval_record, rows))


def asked_in(connection: sqlite3.Connection, thread_no: int) -> Iterator[ApprovalRecord]:
    """All approvals of a thread, in the order they were asked."""
    return map(
        approval_record, connection.execute(f"{_FROM} WHERE a.thread_no = ? ORDER BY a.approval_no", (thread_no,))
    )


def get_approval(connection: sqlite3.Connection, tenant: str, approval_id: str) -> ApprovalRecord | None:
    """See the port."""
    row = connection.execute(f"{_FROM} WHERE a.tenant = ? AND a.id = ?", (tenant, approval_id)).fetchone()
    return None if row is None else approval_record(row)


def list_approvals(
    connection: sqlite3.Connection,
    tenant: str,
    *,
    key: ThreadKey | None,
    states: Sequence[ApprovalState],
    user_id: str | None,
    app: str | None,
    after: tuple[int, str] | None,
    limit: int,
) -> list[ApprovalRecord]:
    """See the port."""
    wanted: list[tuple[str, tuple[Any, ...]]] = [("a.tenant = ?", (tenant,))]
    if key is not None:
        named = "a.thread_no = (SELECT thread_no FROM threads WHERE tenant = ? AND thread_id = ?)"
        wanted.append((named, (key.tenant, key.thread_id)))
    if list(states) == [ApprovalState.PENDING]:
        wanted.append((_PENDING, ()))
    elif states:
        codes = tuple(map(put_approval_state, states))
        wanted.append((f"a.state IN ({', '.join('?' for _ in codes)})", codes))
    if user_id is not None:
        wanted.append(("t.user_id = ?", (user_id,)))
    if app is not None:
        wanted.append(("t.app = ?", (app,)))
    if after is not None:
        wanted.append(("(a.created_at_ms, a.id) > (?, ?)", after))
    clauses = " AND ".join(clause for clause, _ in wanted)
    values = [value for _, group in wanted for value in group]
    rows = connection.execute(f"{_FROM} WHERE {clauses} ORDER BY a.created_at_ms, a.id LIMIT ?", (*values, limit))
    return list(map(approval_record, rows))


def list_expired(connection: sqlite3.Connection, now_ms: int, limit: int) -> list[ApprovalRecord]:
    """See the port."""
    rows = connection.execute(
        f"{_FROM} WHERE {_PENDING} AND a.expires_at_ms IS NOT NULL AND a.expires_at_ms <= ? "
        "ORDER BY a.expires_at_ms, a.id LIMIT ?",
        (now_ms, limit),
    )
    return list(map(approval_record, rows))
