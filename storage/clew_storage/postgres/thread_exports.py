"""Everything of a thread, read a page at a time in one transaction."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from clew_storage.errors import ThreadMissing
from clew_storage.postgres.heads import find_thread, read_log
from clew_storage.postgres.rows import (
    APPROVAL,
    MESSAGE,
    REQUEST,
    Connection,
    Row,
    StoredThread,
    approval_record,
    message_record,
    request_record,
)
from clew_storage.postgres.schemas import Schema
from clew_storage.records import LogEntry, ThreadKey
from clew_storage.state_changes import decode_delta
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart

# What is in memory at a time.
_PAGE_ROWS, _PAGE_BYTES = 64, 1 << 20
_TENANTS = """
WITH RECURSIVE found AS (
    (SELECT t.tenant, 1 AS n FROM clew.threads t
    WHERE t.uid IS NOT NULL AND ($1::text IS NULL OR t.tenant > $1) ORDER BY t.tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT t.tenant FROM clew.threads t WHERE t.uid IS NOT NULL AND t.tenant > f.tenant ORDER BY t.tenant LIMIT 1), f.n + 1
    FROM found f WHERE f.tenant IS NOT NULL AND f.n < $2
)
SELECT f.tenant FROM found f WHERE f.tenant IS NOT NULL ORDER BY f.tenant
"""
# Messages whose checkpoints are gone.
_TRIMMED = f"""
SELECT {MESSAGE} FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.version < $3::bigint ORDER BY m.version, m.position
"""
_CHANGES = """
SELECT s.version, s.change FROM clew.state_changes s
WHERE s.tenant = $1 AND s.thread_id = $2 AND s.version BETWEEN $3 AND $4
"""
# The bytes of a change are asked for without being read.
_SIZES = """
SELECT s.version, octet_length(s.change) FROM clew.state_changes s
WHERE s.tenant = $1 AND s.thread_id = $2 AND s.version BETWEEN $3 AND $4
"""
_APPROVALS = f"""
SELECT {APPROVAL} FROM clew.approvals a WHERE a.tenant = $1 AND a.thread_id = $2 ORDER BY a.asked_in, a.number
"""
_REQUESTS = f"""
SELECT {REQUEST} FROM clew.requests r JOIN clew.threads t ON t.tenant = r.tenant AND t.thread_id = r.thread_id
WHERE r.tenant = $1 AND r.thread_id = $2 ORDER BY r.request_hash
"""


async def list_tenants(connection: Connection, schema: Schema, after: str | None, limit: int) -> Sequence[str]:
    """See the port. Each tenant costs one look into an index, however many threads it has."""
    return [tenant for (tenant,) in await connection.fetch(schema.sql(_TENANTS), after, limit)]


async def pages_of(connection: Connection, schema: Schema, key: ThreadKey) -> AsyncGenerator[Sequence[Part], None]:
    """The parts of a thread. All pages must be read in one transaction that sees one moment."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        raise ThreadMissing(f"there is no thread {key.thread_id}")
    yield [ThreadPart(replace(thread.record, epoch=0), thread.line, thread.cancel, thread.oldest)]
    if thread.oldest:
        async for page in _pages(connection, schema, "trimmed", _TRIMMED, message_record, key, thread.oldest):
            yield page
    async for page in _checkpoints(connection, schema, thread):
        yield page
    async for page in _pages(connection, schema, "approvals", _APPROVALS, approval_record, key):
        yield page
    async for page in _pages(connection, schema, "requests", _REQUESTS, request_record, key):
        yield page


async def _pages(
    connection: Connection,
    schema: Schema,
    name: str,
    query: str,
    record: Callable[[Row], Part],
    key: ThreadKey,
    *more: int,
) -> AsyncGenerator[Sequence[Part], None]:
    """The rows of a query through a cursor, whose name is the query's own: the driver remembers what each FETCH gives.

    The driver's cursors are not for this. They prepare a named statement, which a pooler leaves to whoever gets the connection next.
    """
    declared = f"DECLARE clew_{name} NO SCROLL CURSOR FOR {schema.sql(query)}"
    await connection.execute(declared, key.tenant, key.thread_id, *more)
    while rows := await connection.fetch(f"FETCH {_PAGE_ROWS} FROM clew_{name}"):
        yield [record(tuple(row)) for row in rows]
    await connection.execute(f"CLOSE clew_{name}")


async def _checkpoints(
    connection: Connection, schema: Schema, thread: StoredThread
) -> AsyncGenerator[Sequence[Part], None]:
    key = thread.record.key
    version = 0
    while entries := await read_log(
        connection, schema, key, thread.record.uid, after_version=version, limit=_PAGE_ROWS, max_bytes=_PAGE_BYTES
    ):
        first, version = entries[0].checkpoint.version, entries[-1].checkpoint.version
        found = await connection.fetch(schema.sql(_SIZES), key.tenant, key.thread_id, first, version)
        sizes = {row[0]: row[1] for row in found}
        for some in _groups(entries, sizes):
            since, upto = some[0].checkpoint.version, some[-1].checkpoint.version
            rows = await connection.fetch(schema.sql(_CHANGES), key.tenant, key.thread_id, since, upto)
            changes = {at: decode_delta(change) for at, change in rows}
            yield [
                CheckpointPart(entry.checkpoint, entry.messages, changes.get(entry.checkpoint.version))
                for entry in some
            ]


def _groups(entries: Sequence[LogEntry], sizes: Mapping[int, int]) -> Iterator[Sequence[LogEntry]]:
    """Entries in order, as many at a time as their changes of the state are a page."""
    begin = weight = 0
    for index, entry in enumerate(entries, 1):
        weight += sizes.get(entry.checkpoint.version, 0)
        if weight >= _PAGE_BYTES or index == len(entries):
            yield entries[begin:index]
            begin, weight = index, 0
