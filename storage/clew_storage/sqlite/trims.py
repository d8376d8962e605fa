"""The beginning of a log that is cut off: what stays reads as before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from clew_storage.codes import PENDING
from clew_storage.folds import FULL
from clew_storage.lines import Line, contains, encode_line, since, trimmed, truncate
from clew_storage.records import Trim
from clew_storage.sqlite.erasures import wiping
from clew_storage.sqlite.heads import find_checkpoint, messages_end
from clew_storage.sqlite.places import bounds, number_of, place
from clew_storage.sqlite.rows import StoredThread, find_thread
from clew_storage.sqlite.states import read_state
from clew_storage.state_changes import Delta, encode_delta


def trim_thread(connection: sqlite3.Connection, trim: Trim) -> bool:
    """See the port; nobody else can hold the thread now."""
    thread, oldest = find_thread(connection, trim.key), trim.oldest_version
    if thread is None or (thread.record.uid, thread.record.head_version) != (trim.uid, trim.head_version):
        return False
    if oldest <= thread.oldest or not contains(thread.line, oldest):
        return False
    begin = messages_end(connection, thread.number, oldest - 1)
    with wiping(connection):
        _trim_states(connection, thread, oldest)
        _trim_approvals(connection, thread, oldest)
        _trim_messages(connection, thread, oldest)
        for span in _gaps(thread, oldest):
            connection.execute("DELETE FROM checkpoints WHERE id BETWEEN ? AND ?", span)
        connection.executemany(
            "UPDATE checkpoints SET body = ? WHERE id = ?",
            [(told.body, place(thread.number, told.version)) for told in trim.redactions],
        )
    *earlier, (line_start, _) = trimmed(thread.line, oldest)
    connection.execute(
        "UPDATE threads SET oldest = ?, oldest_begin = ?, line_start = ?, line = ? WHERE thread_no = ?",
        (oldest, begin, line_start, encode_line(tuple(earlier)) if earlier else None, thread.number),
    )
    return True


def _gaps(thread: StoredThread, oldest: int) -> Iterator[tuple[int, int]]:
    """The keys of what is below the oldest, and of what lies between the ranges of the line."""
    begin = 0
    for first, last in since(thread.line, oldest):
        yield place(thread.number, begin), place(thread.number, first - 1)
        begin = last + 1


def _trim_states(connection: sqlite3.Connection, thread: StoredThread, oldest: int) -> None:
    """The state is written whole at the oldest, and again where the fold that it lies in ends: later folds go on from there."""
    number, line = thread.number, thread.line
    start, end = bounds(number)
    if (
        connection.execute("SELECT 1 FROM state_changes WHERE id BETWEEN ? AND ? LIMIT 1", (start, end)).fetchone()
        is None
    ):
        return
    (ends,) = connection.execute(
        "SELECT min(id) FROM folds WHERE id BETWEEN ? AND ?", (place(number, oldest), end)
    ).fetchone()
    folded = oldest if ends is None else number_of(ends)
    whole, at_fold = (
        encode_delta(Delta(values=dict(read_state(connection, number, truncate(line, version), on_head_line=True))))
        for version in (oldest, folded)
    )
    connection.execute("DELETE FROM folds WHERE id BETWEEN ? AND ?", (start, place(number, folded)))
    for span in _gaps(thread, oldest):
        connection.execute("DELETE FROM state_changes WHERE id BETWEEN ? AND ?", span)
    connection.execute("INSERT OR REPLACE INTO state_changes VALUES (?, ?)", (place(number, oldest), whole))
    connection.execute("INSERT INTO folds VALUES (?, ?, ?)", (place(number, folded), FULL, at_fold))


def _trim_approvals(connection: sqlite3.Connection, thread: StoredThread, oldest: int) -> None:
    checkpoint = find_checkpoint(connection, thread.number, oldest)
    run = checkpoint.run_version if checkpoint else 0
    rows = connection.execute(
        f"SELECT approval_no, version, run_version FROM approvals WHERE thread_no = ? AND state <> {PENDING}",  # noqa: S608
        (thread.number,),
    ).fetchall()
    gone = [
        (number,)
        for number, version, run_version in rows
        if not (contains(thread.line, version) and (version >= oldest or run_version == run))
    ]
    connection.executemany("DELETE FROM approvals WHERE approval_no = ?", gone)


def _trim_messages(connection: sqlite3.Connection, thread: StoredThread, oldest: int) -> None:
    """Delete what no checkpoint from the oldest on sees: messages of other lines, and what was replaced by then."""
    places = connection.execute(
        "SELECT position, version, id FROM messages WHERE thread_no = ? ORDER BY position, version", (thread.number,)
    )
    gone = [key for _, rows in groupby(places, itemgetter(0)) for key in _unseen(rows, thread.line, oldest)]
    connection.executemany("DELETE FROM messages WHERE id = ?", [(key,) for key in gone])


def _unseen(rows: Iterator[tuple[int, int, int]], line: Line, oldest: int) -> Iterator[int]:
    """The keys of those that go, of the rows of one place in the order of their versions."""
    before: int | None = None
    for _, version, key in rows:
        if not contains(line, version):
            yield key
        elif version <= oldest:
            if before is not None:
                yield before
            before = key
