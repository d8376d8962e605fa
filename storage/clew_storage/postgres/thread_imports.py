"""A thread made of its parts, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clew_storage import codes
from clew_storage.errors import ThreadExists
from clew_storage.folds import FULL
from clew_storage.lines import contains, encode_line
from clew_storage.postgres.requests import request_columns
from clew_storage.postgres.rows import Connection, put_text
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.write_columns import checkpoint_columns, message_columns
from clew_storage.records import ApprovalRecord, CheckpointRecord, MessageRecord, RequestRecord
from clew_storage.state_changes import Delta, Tail, apply_delta, encode_delta
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart

# What goes to the database at a time: so many parts, or so many bytes and the part that goes beyond.
_BATCH_ROWS, _BATCH_BYTES = 64, 1 << 20
_COLUMNS = {
    "checkpoints": "version parent run_version attempt status source step next_position created_at_ms position positions body",
    "messages": "version position number message_id role other_role created_at_ms body",
    "state_changes": "version change",
    "approvals": "asked_in number id uid run_version version kind state created_at_ms expires_at_ms body decided_at_ms decision",
}
# The place is made as a first write makes it, so that whoever comes at the same time waits or is refused.
_PLACE = """
INSERT INTO clew.threads (epoch, created_at_ms, updated_at_ms, deleted_at_ms, head, line_start, revision, tenant, thread_id, app,
    user_id, name, metadata)
VALUES (0, $3, $3, $3, 0, 0, 0, $1, $2, '', '', '', '') ON CONFLICT DO NOTHING
"""
_LOCK = "SELECT t.uid FROM clew.threads t WHERE t.tenant = $1 AND t.thread_id = $2 FOR NO KEY UPDATE"
_REQUEST = """
INSERT INTO clew.requests (tenant, thread_id, request_hash, body_digest, verb, uid, version, created_at_ms, reply)
VALUES ($1, $2, $4, $5, $6, nullif($7, $3), $8, $9, $10) ON CONFLICT DO NOTHING
"""
_THREAD = """
UPDATE clew.threads t SET uid = $3, epoch = nextval('clew.epochs'), deleted_at_ms = NULL, head = $4, status = $5, created_at_ms = $6, updated_at_ms = $7,
    revision = $8, app = $9, user_id = $10, name = $11, metadata = $12, line_start = $13, line = $14, cancel_run = $15,
    cancel_attempt = $16, run_version = $17, attempt = $18,
    oldest = $19, oldest_of = $3
WHERE t.tenant = $1 AND t.thread_id = $2
"""
_FOLD = "INSERT INTO clew.folds (version, level, tenant, thread_id, change) VALUES ($3, $4, $1, $2, $5)"


async def put_thread(connection: Connection, schema: Schema, parts: Iterable[Part]) -> None:
    """See the port. Whoever stops in the middle is ended by the database, so that nobody waits for the thread's place."""
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '30s'")
        rest = iter(parts)
        head = next(rest)
        assert isinstance(head, ThreadPart)
        await _take_place(connection, schema, head)
        newest: CheckpointRecord | None = None
        asked = 0
        state: dict[str, bytes] | None = None
        for batch in batches_of(rest, rows=_BATCH_ROWS, size=_BATCH_BYTES):
            await _put_batch(connection, schema, head, batch, asked)
            asked += sum(isinstance(part, ApprovalRecord) for part in batch)
            for part in batch:
                if isinstance(part, CheckpointPart):
                    newest = part.checkpoint
                    if part.change is not None and contains(head.line, newest.version):
                        state = apply_delta(state or {}, part.change)
        await _fold(connection, schema, head, state)
        await connection.execute(schema.sql(_THREAD), *_thread_columns(head, newest))


def batches_of(parts: Iterable[Part], *, rows: int, size: int) -> Iterator[list[Part]]:
    """The parts in order, so many at a time, or fewer where these are large."""
    batch: list[Part] = []
    weight = 0
    for part in parts:
        batch.append(part)
        weight += _weight(part)
        if len(batch) >= rows or weight >= size:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _weight(part: Part) -> int:
    """About how many bytes it is."""
    match part:
        case CheckpointPart(checkpoint, messages, change):
            values = () if change is None else change.values.values()
            sizes = (len(value.elements) if isinstance(value, Tail) else len(value) for value in values)
            return len(checkpoint.body) + sum(len(message.body) for message in messages) + sum(sizes)
        case MessageRecord() | ApprovalRecord():
            return len(part.body)
        case _:
            return 0


async def _take_place(connection: Connection, schema: Schema, head: ThreadPart) -> None:
    key = head.record.key
    name = (key.tenant, key.thread_id)
    place = None
    while place is None:
        # A tombstone may go between the two.
        await connection.execute(schema.sql(_PLACE), *name, head.record.created_at_ms)
        place = await connection.fetchrow(schema.sql(_LOCK), *name)
    if place["uid"] is not None:
        raise ThreadExists(f"there is a thread {key.thread_id} already")


async def _put_batch(
    connection: Connection, schema: Schema, head: ThreadPart, batch: Sequence[Part], asked: int
) -> None:
    key = head.record.key
    written = [part for part in batch if isinstance(part, CheckpointPart)]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "checkpoints": [checkpoint_columns(part.checkpoint, part.messages) for part in written],
        "messages": [
            *(message_columns(part) for part in batch if isinstance(part, MessageRecord)),
            *(message_columns(message) for part in written for message in part.messages),
        ],
        "state_changes": [
            (part.checkpoint.version, encode_delta(part.change)) for part in written if part.change is not None
        ],
        "approvals": list(_approvals(batch, asked)),
    }
    for table, values in rows.items():
        if values:
            await connection.copy_records_to_table(
                table,
                schema_name=schema.name,
                columns=["tenant", "thread_id", *_COLUMNS[table].split()],
                records=[(key.tenant, key.thread_id, *row) for row in values],
            )
    requests = [part for part in batch if isinstance(part, RequestRecord)]
    if requests:
        await connection.executemany(
            schema.sql(_REQUEST),
            [(key.tenant, key.thread_id, head.record.uid, *request_columns(request)) for request in requests],
        )


def _approvals(batch: Sequence[Part], asked: int) -> Iterator[tuple[Any, ...]]:
    """Rows that keep the order they were asked in, which is that of `asked_in` and `number`."""
    approvals = [part for part in batch if isinstance(part, ApprovalRecord)]
    for number, each in enumerate(approvals, asked):
        yield (
            each.version,
            number,
            put_text(each.id),
            each.uid,
            each.run_version,
            each.version,
            put_text(each.kind),
            codes.put_approval_state(each.state),
            each.created_at_ms,
            each.expires_at_ms,
            each.body,
            each.decided_at_ms,
            each.decision,
        )


async def _fold(connection: Connection, schema: Schema, head: ThreadPart, state: dict[str, bytes] | None) -> None:
    """Write the state at the head once, so that reading it does not cost the whole log."""
    if state is not None:
        key = head.record.key
        full = encode_delta(Delta(values=dict(state)))
        await connection.execute(schema.sql(_FOLD), key.tenant, key.thread_id, head.record.head_version, FULL, full)


def _thread_columns(head: ThreadPart, newest: CheckpointRecord | None) -> tuple[Any, ...]:
    record, info, line = head.record, head.record.info, head.line
    return (
        record.key.tenant,
        record.key.thread_id,
        record.uid,
        record.head_version,
        None if record.head_status is None else codes.put_status(record.head_status),
        record.created_at_ms,
        record.updated_at_ms,
        info.revision,
        put_text(info.app),
        put_text(info.user_id),
        put_text(info.name),
        info.metadata,
        line[-1][0] if line else 0,
        encode_line(line[:-1]) if len(line) > 1 else None,
        *(head.cancel or (None, None)),
        *((None, None) if newest is None else (newest.run_version, newest.attempt)),
        head.oldest,
    )
