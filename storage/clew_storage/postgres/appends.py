"""The statement that appends: what it is given, what it answers, and what became of one whose answer was lost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from clew_storage.errors import (
    ApprovalNotPending,
    CheckpointMissing,
    LeaseLost,
    StorageError,
    ThreadMissing,
    VersionConflict,
)
from clew_storage.postgres.heads import find_thread, read_log
from clew_storage.postgres.requests import recorded
from clew_storage.postgres.rows import THREAD_WIDTH, Connection, Row, thread_record
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.write_columns import Prepared, columns, parameters
from clew_storage.records import Write, Written

APPEND = f"SELECT * FROM clew.append_1(true, $1::text, {parameters(after=1)})"
Outcome = Sequence[Written] | StorageError


class TombstoneWent(Exception):  # noqa: N818 - it says what was found
    """The row that a first write was to take the place of went away at this moment; the write goes through when tried again."""


async def append_all(
    connection: Connection, schema: Schema, server: str, groups: Sequence[Sequence[Prepared]]
) -> list[Outcome | TombstoneWent]:
    """Write the groups, a thread each, in one statement; what became of each, all of its writes or none."""
    rows = await connection.fetch(schema.sql(APPEND), server, *columns(groups))
    by_group = {row[0]: tuple(row) for row in rows}
    return [outcome(group, by_group[index]) for index, group in enumerate(groups, 1)]


def outcome(group: Sequence[Prepared], row: Row) -> Outcome | TombstoneWent:
    """A row of the answer: out_group, out_refusal, out_detail, THREAD, cancel_requested."""
    _, refusal, detail, *thread, cancel_requested = row
    if refusal == 9:
        return TombstoneWent()
    if refusal:
        return _refusal(group[0].write, refusal, detail)
    record = thread_record(thread[:THREAD_WIDTH])
    return [
        Written(
            replace(
                record,
                head_version=each.write.checkpoint.version,
                head_status=each.write.checkpoint.status,
                updated_at_ms=each.write.checkpoint.created_at_ms,
            ),
            cancel_requested=cancel_requested,
        )
        for each in group
    ]


def _refusal(write: Write, refusal: int, detail: int | None) -> StorageError:
    if refusal == 1:
        return recorded()
    if refusal == 2:
        return LeaseLost("the lease that this write was made under is no longer held")
    if refusal == 3:
        return LeaseLost("the thread was deleted meanwhile")
    if refusal == 4:
        return VersionConflict(write.expected_version, detail or 0)
    if refusal == 5:
        return ApprovalNotPending(write.decisions[detail or 0].approval_id)
    return CheckpointMissing(f"there is no checkpoint {write.fork_of}")


async def find_written(connection: Connection, schema: Schema, group: Sequence[Prepared]) -> Outcome | None:
    """The outcome of writes that are in the database, or None.

    For writes that were made again because the answer of the first time was lost: what refuses them may be themselves.
    """
    last = group[-1].write
    thread = await find_thread(connection, schema, last.key)
    if thread is None or not all([await _is_stored(connection, schema, each.write) for each in group]):
        return None
    # What can be read here may not have reached the standby: a crash or a timeout ended the wait for it. A commit that comes after
    # it and waits has waited for both.
    await connection.execute("SELECT pg_logical_emit_message(true, 'clew', 'found')")
    asked = thread.cancel == (last.checkpoint.run_version, last.checkpoint.attempt)
    return [
        Written(
            replace(
                thread.record,
                head_version=each.write.checkpoint.version,
                head_status=each.write.checkpoint.status,
                updated_at_ms=each.write.checkpoint.created_at_ms,
            ),
            cancel_requested=asked,
        )
        for each in group
    ]


async def _is_stored(connection: Connection, schema: Schema, write: Write) -> bool:
    before = write.checkpoint.version - 1
    try:
        log = await read_log(connection, schema, write.key, write.uid, after_version=before, limit=1, max_bytes=0)
    except ThreadMissing:
        return False
    return [(entry.checkpoint, entry.messages) for entry in log] == [(write.checkpoint, write.messages)]
