"""Messages of a line: the newest row of each place that the line has."""

from __future__ import annotations

from collections.abc import Sequence

from clew_storage.codes import writing_version
from clew_storage.lines import Line, contains
from clew_storage.postgres.heads import find_thread, line_to
from clew_storage.postgres.rows import (
    MESSAGE,
    POSITIONS,
    Connection,
    StoredThread,
    message_record,
    put_text,
    stored_message_id,
)
from clew_storage.postgres.schemas import Schema
from clew_storage.records import MessageRecord, ThreadKey

_ON_LINE = "m.version <@ (SELECT range_agg(int4range(r.first, r.last, '[]')) FROM unnest($3::integer[], $4::integer[]) AS r (first, last))"
_LIST = f"""
SELECT DISTINCT ON (m.position) {MESSAGE} FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.position > $5::bigint AND {_ON_LINE}
ORDER BY m.position, m.version DESC LIMIT $6
"""
_LIST_NEWEST_FIRST = f"""
SELECT DISTINCT ON (m.position) {MESSAGE} FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.position < $5::bigint AND {_ON_LINE}
ORDER BY m.position DESC, m.version DESC LIMIT $6
"""
# Rows that may have this id: by the id that was chosen, or where the version in the id wrote.
_NAMED = f"""
SELECT m.position, m.version, m.number, m.message_id FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.message_id = $3
UNION
SELECT m.position, m.version, m.number, m.message_id FROM clew.checkpoints c
JOIN clew.messages m ON m.tenant = $1 AND m.thread_id = $2 AND m.position = ANY ({POSITIONS}) AND m.version = c.version
WHERE c.tenant = $1 AND c.thread_id = $2 AND c.version = $4::bigint
"""
# What a version wrote that was trimmed: the rows themselves are all that tells. The index alone finds them.
_NAMED_BELOW = """
SELECT m.position, m.version, m.number, m.message_id FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.version = $3
"""
_AT = f"""
SELECT {MESSAGE} FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.position = ANY ($3::bigint[]) ORDER BY m.position, m.version DESC
"""
_VERSIONS_AT = """
SELECT m.version FROM clew.messages m
WHERE m.tenant = $1 AND m.thread_id = $2 AND m.position = $3 AND m.version < $4
"""
_BEYOND = 1 << 62


async def list_messages(
    connection: Connection,
    schema: Schema,
    key: ThreadKey,
    *,
    at_version: int | None,
    after_position: int | None,
    limit: int | None,
    newest_first: bool,
) -> Sequence[MessageRecord]:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        return ()
    line = thread.line if at_version is None else await line_to(connection, schema, thread, at_version)
    if not line:
        return ()
    start = after_position if after_position is not None else _BEYOND if newest_first else -1
    rows = await connection.fetch(
        schema.sql(_LIST_NEWEST_FIRST if newest_first else _LIST), key.tenant, key.thread_id, *_ends(line), start, limit
    )
    return [message_record(tuple(row)) for row in rows]


def _ends(line: Line) -> tuple[list[int], list[int]]:
    return [first for first, _ in line], [last for _, last in line]


async def get_message(connection: Connection, schema: Schema, key: ThreadKey, message_id: str) -> MessageRecord | None:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        return None
    places = {position for position, _ in await rows_of(connection, schema, thread, message_id)}
    if not places:
        return None
    rows = await connection.fetch(schema.sql(_AT), key.tenant, key.thread_id, sorted(places))
    seen: set[int] = set()
    for row in rows:
        if row["position"] in seen or not contains(thread.line, row["version"]):
            continue
        seen.add(row["position"])
        message = message_record(tuple(row))
        if message.id == message_id:
            return message
    return None


async def known_ids(connection: Connection, schema: Schema, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
    """See the port."""
    thread = await find_thread(connection, schema, key)
    if thread is None:
        return frozenset()
    return frozenset([each for each in ids if await rows_of(connection, schema, thread, each)])


async def rows_of(
    connection: Connection, schema: Schema, thread: StoredThread, message_id: str
) -> list[tuple[int, int]]:
    """Position and version of every row that has this id."""
    key, version = thread.record.key, writing_version(message_id)
    rows = await connection.fetch(schema.sql(_NAMED), key.tenant, key.thread_id, put_text(message_id), version)
    if version is not None and version < thread.oldest:
        rows += await connection.fetch(schema.sql(_NAMED_BELOW), key.tenant, key.thread_id, version)
    return [
        (position, version)
        for position, version, number, stored in rows
        if stored_message_id(version, number, stored) == message_id
    ]


async def rows_to_erase(
    connection: Connection, schema: Schema, thread: StoredThread, ids: Sequence[str]
) -> list[tuple[int, int]]:
    """Position and version of every row of these messages, and of what stood at its place before it on its line."""
    key = thread.record.key
    gone: set[tuple[int, int]] = set()
    for message_id in ids:
        for position, version in await rows_of(connection, schema, thread, message_id):
            line = await line_to(connection, schema, thread, version) or ()
            older = await connection.fetch(schema.sql(_VERSIONS_AT), key.tenant, key.thread_id, position, version)
            gone |= {(position, version), *((position, at) for (at,) in older if contains(line, at))}
    return sorted(gone)
