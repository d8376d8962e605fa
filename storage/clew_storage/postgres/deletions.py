"""The end of a thread: every row of content goes, the tombstone stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew_storage.errors import VersionConflict
from clew_storage.postgres.requests import recorded, request_columns
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.records import RequestRecord, ThreadKey, ThreadRecord


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a delete ended: leases below the epoch, and the waits of these tickets."""

    epoch: int
    tickets: tuple[int, ...]


async def delete_thread(
    connection: Connection,
    schema: Schema,
    key: ThreadKey,
    *,
    request: RequestRecord | None,
    now_ms: int,
    expected_version: int | None,
) -> Deleted | None:
    """See the port; None where there was no thread."""
    row = await connection.fetchrow(
        schema.sql("SELECT * FROM clew.delete_thread_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"),
        key.tenant,
        key.thread_id,
        expected_version,
        now_ms,
        *request_columns(request),
    )
    assert row is not None
    refusal, detail, epoch, tickets = row
    if refusal is None:
        return None
    if refusal == 1:
        raise recorded()
    if refusal == 4:
        raise VersionConflict(expected_version or 0, detail)
    return Deleted(epoch, tuple(tickets or ()))


async def delete_idle(
    connection: Connection, schema: Schema, threads: Sequence[ThreadRecord], *, now_ms: int
) -> list[ThreadKey]:
    """See the port."""
    rows = await connection.fetch(
        schema.sql("SELECT * FROM clew.delete_idle_1($1, $2, $3, $4, $5, $6)"),
        [thread.key.tenant for thread in threads],
        [thread.key.thread_id for thread in threads],
        [thread.uid for thread in threads],
        [thread.head_version for thread in threads],
        [thread.updated_at_ms for thread in threads],
        now_ms,
    )
    return [threads[place - 1].key for (place,) in rows]
