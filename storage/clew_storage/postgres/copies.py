"""A thread made from another one's line."""

from __future__ import annotations

from clew_storage.errors import CheckpointMissing, ThreadExists, ThreadMissing
from clew_storage.lines import Line, contains
from clew_storage.postgres.appends import outcome
from clew_storage.postgres.heads import find_thread, line_to
from clew_storage.postgres.preparation import fork
from clew_storage.postgres.requests import recorded
from clew_storage.postgres.rows import Connection, put_text
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.states import Pieces, read_pieces
from clew_storage.postgres.write_columns import columns, parameters
from clew_storage.records import ThreadKey, ThreadRecord, Write, Written

_ARGUMENTS = 15
# One statement, so that there is a whole copy or none. The checkpoint that it ends with comes when the line is there; $1, $2: the
# source; $6, $7, $8: the target and its uid.
_COPY = f"""
WITH copied AS MATERIALIZED (
    SELECT clew.copy_line_1({", ".join(f"${number}" for number in range(1, _ARGUMENTS + 1))}) AS refusal
)
SELECT c.refusal, a.*, clew.copy_oldest_1($1, $2, $6, $7, $8) FROM copied c
LEFT JOIN LATERAL clew.append_1(CASE WHEN c.refusal = 0 THEN false END, NULL, {parameters(after=_ARGUMENTS)}) a ON true
"""


async def copy_thread(
    connection: Connection, schema: Schema, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write
) -> Written:
    """See the port."""
    line, base = await _read_source(connection, schema, source, source_uid, write.fork_of)
    prepared, _ = fork(write, line, base)
    info = target.info
    row = await connection.fetchrow(
        schema.sql(_COPY),
        source.tenant,
        source.thread_id,
        source_uid,
        [first for first, _ in line],
        [last for _, last in line],
        target.key.tenant,
        target.key.thread_id,
        target.uid,
        target.created_at_ms,
        put_text(info.app),
        put_text(info.user_id),
        put_text(info.name),
        info.metadata,
        info.revision,
        None if write.request is None else write.request.request_hash,
        *columns([[prepared]]),
    )
    assert row is not None
    refusal, *appended, _ = row
    if refusal == 1:
        raise recorded()
    if refusal == 7:
        raise ThreadMissing(f"there is no thread {source.thread_id} with that uid")
    if refusal == 6:
        raise CheckpointMissing(f"there is no checkpoint {write.fork_of}")
    if refusal == 9:
        raise ThreadExists(f"there is a thread {target.key.thread_id} already")
    written = outcome([prepared], appended)
    if isinstance(written, Exception):
        raise written
    return written[0]


async def _read_source(
    connection: Connection, schema: Schema, source: ThreadKey, source_uid: str, version: int | None
) -> tuple[Line, Pieces]:
    """The line that is copied and the state at its end; nothing where the copy will be refused."""
    origin = await find_thread(connection, schema, source)
    if origin is None or origin.record.uid != source_uid or version is None:
        return (), Pieces()
    line = await line_to(connection, schema, origin, version)
    if not line:
        return (), Pieces()
    on_head_line = contains(origin.line, version)
    return line, await read_pieces(connection, schema, source, line, on_head_line=on_head_line, oldest=origin.oldest)
