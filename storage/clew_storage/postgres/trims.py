"""The beginning of a log that is cut off: what stays reads as before."""

from __future__ import annotations

from clew_storage.lines import contains, encode_line, since, trimmed, truncate
from clew_storage.postgres.heads import find_thread, get_checkpoint
from clew_storage.postgres.rows import Connection, StoredThread
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.states import read_pieces
from clew_storage.records import Trim
from clew_storage.state_changes import Delta, encode_delta

_TRIM = (
    "SELECT clew.trim_thread_1($1, $2, $3, $4, $5, $6, $7, $8::integer[], $9::integer[], $10, $11, $12, $13, $14, "
    "$15::integer[], $16::bytea[])"
)
_FOLD_OF = "SELECT min(f.version) FROM clew.folds f WHERE f.tenant = $1 AND f.thread_id = $2 AND f.version >= $3"


async def trim_thread(connection: Connection, schema: Schema, trim: Trim) -> bool:
    """See the port. What is read before the statement belongs to the head and the oldest version that it asks for."""
    thread, oldest = await find_thread(connection, schema, trim.key), trim.oldest_version
    if thread is None or (thread.record.uid, thread.record.head_version) != (trim.uid, trim.head_version):
        return False
    checkpoint = await get_checkpoint(connection, schema, trim.key, oldest)
    if checkpoint is None or oldest <= thread.oldest or not contains(thread.line, oldest):
        return False
    kept = since(thread.line, oldest)
    *earlier, (line_start, _) = trimmed(thread.line, oldest)
    done = await connection.fetchval(
        schema.sql(_TRIM),
        trim.key.tenant,
        trim.key.thread_id,
        trim.uid,
        trim.head_version,
        thread.oldest,
        oldest,
        checkpoint.run_version,
        [first for first, _ in thread.line],
        [last for _, last in thread.line],
        line_start,
        encode_line(tuple(earlier)) if earlier else None,
        *await _whole_states(connection, schema, thread, oldest),
        [told.version for told in trim.redactions if contains(kept, told.version)],
        [told.body for told in trim.redactions if contains(kept, told.version)],
    )
    return bool(done)


async def _whole_states(
    connection: Connection, schema: Schema, thread: StoredThread, oldest: int
) -> tuple[bytes | None, int, bytes | None]:
    """The state at the oldest; and where the fold ends that it lies in, with the state there: later folds go on from it."""
    key = thread.record.key
    folded = await connection.fetchval(schema.sql(_FOLD_OF), key.tenant, key.thread_id, oldest)
    wholes = []
    for version in (oldest, folded or oldest):
        pieces = await read_pieces(
            connection, schema, key, truncate(thread.line, version), on_head_line=True, oldest=thread.oldest
        )
        wholes.append(encode_delta(Delta(values=dict(pieces.state()))) if pieces.parts else None)
    return wholes[0], folded or oldest, wholes[1]
