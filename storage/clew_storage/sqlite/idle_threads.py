"""Threads that nobody has used for a while, looked up in parts of the index of names."""

from __future__ import annotations

import sqlite3
from typing import Any

from clew_storage.codes import PENDING, put_status
from clew_storage.records import IdleFilter, Status, ThreadKey, ThreadRecord
from clew_storage.sqlite.rows import THREAD, thread_record

# So many threads are looked at in one read.
_PART = 2000


def list_idle(
    connection: sqlite3.Connection, where: IdleFilter, after: ThreadKey | None
) -> tuple[list[ThreadRecord], ThreadKey | None]:
    """What the next part has, whoever may hold it, and where the part after it begins (None: that was the last)."""
    start = ("", "") if after is None else (after.tenant, after.thread_id)
    last = connection.execute(
        "SELECT tenant, thread_id FROM threads WHERE (tenant, thread_id) > (?, ?) ORDER BY tenant, thread_id "
        "LIMIT 1 OFFSET ?",
        (*start, _PART - 1),
    ).fetchone()
    wanted: list[tuple[str, tuple[Any, ...]]] = [
        ("t.uid IS NOT NULL AND (t.tenant, t.thread_id) > (?, ?)", start),
        ("t.head - max(t.oldest - 1, 0) > ?", (where.longer_than,)),
    ]
    if last is not None:
        wanted.append(("(t.tenant, t.thread_id) <= (?, ?)", last))
    if where.before_ms is not None:
        wanted.append(("t.updated_at_ms < ?", (where.before_ms,)))
    if where.apps:
        wanted.append((f"t.app IN ({_marks(where.apps)})", where.apps))
    if where.user_ids:
        wanted.append((f"t.user_id IN ({_marks(where.user_ids)})", where.user_ids))
    if where.statuses:
        asked = f"EXISTS (SELECT 1 FROM approvals a WHERE a.thread_no = t.thread_no AND a.state = {PENDING})"  # noqa: S608
        status = f"CASE WHEN {asked} THEN {put_status(Status.SUSPENDED)} ELSE t.status END"
        wanted.append((f"{status} IN ({_marks(where.statuses)})", tuple(map(put_status, where.statuses))))
    clauses = " AND ".join(clause for clause, _ in wanted)
    values = [value for _, group in wanted for value in group]
    rows = connection.execute(
        f"SELECT {THREAD} FROM threads t INDEXED BY threads_by_name WHERE {clauses} ORDER BY t.tenant, t.thread_id",  # noqa: S608
        values,
    )
    return list(map(thread_record, rows)), None if last is None else ThreadKey(*last)


def _marks(values: tuple[object, ...]) -> str:
    return ", ".join("?" for _ in values)
