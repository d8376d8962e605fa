"""Messages of a line: first the places, from the index alone, then the rows that are the message there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from clew_storage.codes import get_message_id, writing_version
from clew_storage.lines import Line, contains
from clew_storage.records import MessageRecord, ThreadKey
from clew_storage.sqlite.heads import line_to, messages_end
from clew_storage.sqlite.places import place
from clew_storage.sqlite.rows import MESSAGE, StoredThread, find_thread, message_record


def list_messages(
    connection: sqlite3.Connection,
    key: ThreadKey,
    *,
    at_version: int | None,
    after_position: int | None,
    limit: int | None,
    newest_first: bool,
) -> Sequence[MessageRecord]:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None:
        return ()
    line = thread.line if at_version is None else line_to(connection, thread, at_version)
    if not line:
        return ()
    order = "DESC" if newest_first else "ASC"
    start, beyond = (-1 if after_position is None else after_position), ">"
    if newest_first:
        start, beyond = (1 << 62 if after_position is None else after_position), "<"
    places = connection.execute(
        f"SELECT position, version, id FROM messages WHERE thread_no = ? AND position {beyond} ? "  # noqa: S608
        f"ORDER BY position {order}, version {order}",
        (thread.number, start),
    )
    found: list[int] = []
    for key_of_row in _newest_on(line, places, newest_first=newest_first):
        if limit is not None and len(found) >= limit:
            break
        found.append(key_of_row)
    messages = dict(_fetch(connection, found))
    return [messages[key_of_row] for key_of_row in found]


def _newest_on(line: Line, places: Iterable[tuple[int, int, int]], *, newest_first: bool) -> Iterator[int]:
    """The key of the newest row of each place on the line; the versions of a place come in the order of the places."""
    at, chosen = -1, 0
    for position, version, key in places:
        if position != at:
            if chosen:
                yield chosen
            at, chosen = position, 0
        if not (newest_first and chosen) and contains(line, version):
            chosen = key
    if chosen:
        yield chosen


def _fetch(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, MessageRecord]]:
    """The rows of these keys. They lie almost in order, so a query for each stretch is far cheaper than one for each."""
    for first, last in _stretches(sorted(keys)):
        rows = connection.execute(f"SELECT id, {MESSAGE} FROM messages WHERE id BETWEEN ? AND ?", (first, last))  # noqa: S608
        for row in rows:
            yield row[0], message_record(row[1:])


def _stretches(keys: Iterable[int]) -> Iterator[tuple[int, int]]:
    first = last = -1
    for key in keys:
        if key != last + 1:
            if last >= 0:
                yield first, last
            first = key
        last = key
    if last >= 0:
        yield first, last


def get_message(connection: sqlite3.Connection, key: ThreadKey, message_id: str) -> MessageRecord | None:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None:
        return None
    for position in _positions(connection, thread, message_id):
        rows = connection.execute(
            "SELECT position, version, id FROM messages WHERE thread_no = ? AND position = ? ORDER BY version",
            (thread.number, position),
        )
        for row_key in _newest_on(thread.line, rows, newest_first=False):
            ((_, message),) = _fetch(connection, [row_key])
            if message.id == message_id:
                return message
    return None


def known_ids(connection: sqlite3.Connection, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
    """See the port."""
    thread = find_thread(connection, key)
    if thread is None:
        return frozenset()
    return frozenset(each for each in ids if rows_of(connection, thread, each))


def rows_of(connection: sqlite3.Connection, thread: StoredThread, message_id: str) -> list[tuple[int, int, int]]:
    """Key, position and version of every row that has this id."""
    rows: list[tuple[int, int, int]] = []
    for position in _positions(connection, thread, message_id):
        at = connection.execute(
            "SELECT id, position, version, message_id FROM messages WHERE thread_no = ? AND position = ?",
            (thread.number, position),
        )
        rows += [
            (key, place, version) for key, place, version, stored in at if get_message_id(stored, version) == message_id
        ]
    return rows


def _positions(connection: sqlite3.Connection, thread: StoredThread, message_id: str) -> list[int]:
    """Where a message of that id was ever written."""
    number = thread.number
    rows = connection.execute(
        "SELECT DISTINCT position FROM messages "
        "WHERE thread_no = ? AND message_id = ? AND typeof(message_id) = 'text' ORDER BY id DESC",
        (number, message_id),
    ).fetchall()
    version = writing_version(message_id)
    if version is not None:
        counted = int(message_id.partition(".")[2])
        if version < thread.oldest:
            # Nothing tells any more which rows it wrote, but the rows themselves.
            rows += connection.execute(
                "SELECT position FROM messages WHERE thread_no = ? AND version = ? AND message_id = ?",
                (number, version, counted),
            ).fetchall()
        else:
            begin, end = (messages_end(connection, number, at) for at in (version - 1, version))
            rows += connection.execute(
                "SELECT position FROM messages WHERE id >= ? AND id < ? AND message_id = ?",
                (place(number, begin), place(number, end), counted),
            ).fetchall()
    return [position for (position,) in rows]
