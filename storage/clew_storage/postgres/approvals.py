"""Approvals on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew_storage.codes import PENDING, put_approval_state
from clew_storage.postgres.rows import APPROVAL, Connection, approval_record, put_text
from clew_storage.postgres.schemas import Schema
from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey

# Spelt out, so that the partial indexes of pending approvals apply.
_PENDING = f"a.state = {PENDING}"
_OF_THREADS = "JOIN clew.threads t ON t.tenant = a.tenant AND t.thread_id = a.thread_id"


async def get_approval(connection: Connection, schema: Schema, tenant: str, approval_id: str) -> ApprovalRecord | None:
    """See the port."""
    row = await connection.fetchrow(
        schema.sql(f"SELECT {APPROVAL} FROM clew.approvals a WHERE a.tenant = $1 AND a.id = $2"),
        tenant, put_text(approval_id),
    )  # fmt: skip
    return None if row is None else approval_record(tuple(row))


async def list_approvals(
    connection: Connection,
    schema: Schema,
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
    values: list[Any] = [tenant]

    def value(given: Any) -> str:
        values.append(given)
        return f"${len(values)}"

    wanted = ["a.tenant = $1"]
    if key is not None:
        wanted.append(f"a.tenant = {value(key.tenant)} AND a.thread_id = {value(key.thread_id)}")
    if list(states) == [ApprovalState.PENDING]:
        wanted.append(_PENDING)
    elif states:
        wanted.append(f"a.state = ANY ({value(list(map(put_approval_state, states)))}::smallint[])")
    if user_id is not None:
        wanted.append(f"t.user_id = {value(put_text(user_id))}")
    if app is not None:
        wanted.append(f"t.app = {value(put_text(app))}")
    if after is not None:
        wanted.append(f"(a.created_at_ms, a.id) > ({value(after[0])}::bigint, {value(put_text(after[1]))}::bytea)")
    rows = await connection.fetch(
        schema.sql(
            f"SELECT {APPROVAL} FROM clew.approvals a {_OF_THREADS if user_id is not None or app is not None else ''} "
            f"WHERE {' AND '.join(wanted)} ORDER BY a.created_at_ms, a.id LIMIT {value(limit)}"
        ),
        *values,
    )
    return [approval_record(tuple(row)) for row in rows]


async def list_expired(connection: Connection, schema: Schema, now_ms: int, limit: int) -> list[ApprovalRecord]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql(
            f"SELECT {APPROVAL} FROM clew.approvals a WHERE {_PENDING} AND a.expires_at_ms IS NOT NULL "
            "AND a.expires_at_ms <= $1 ORDER BY a.expires_at_ms, a.id LIMIT $2"
        ),
        now_ms, limit,
    )  # fmt: skip
    return [approval_record(tuple(row)) for row in rows]
