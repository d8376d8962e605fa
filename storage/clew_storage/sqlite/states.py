"""States on disk: a change a checkpoint for ever, and folds of the head's line (docs/decisions.md)."""

from __future__ import annotations

import sqlite3
from functools import reduce

from clew_storage.folds import FULL, Piece, next_merge
from clew_storage.lines import Line, contains
from clew_storage.records import StateChange
from clew_storage.sqlite.places import bounds, number_of, place
from clew_storage.state_changes import Delta, apply_delta, compose, decode_delta, delta_of, encode_delta

State = dict[str, bytes]


def put_change(connection: sqlite3.Connection, thread_no: int, version: int, change: StateChange) -> None:
    """Keep what a checkpoint changed, and fold where it is time."""
    insert_change(connection, thread_no, version, delta_of(change))
    _fold(connection, thread_no, version)


def put_fork_change(
    connection: sqlite3.Connection, thread_no: int, version: int, change: StateChange | None, base: State
) -> None:
    """As `put_change` for a head with a new line: drop the folds of the old one and write the state once.

    `base` is the state at the checkpoint that the new head continues.
    """
    if change is not None:
        delta = delta_of(change)
        insert_change(connection, thread_no, version, delta)
        base = apply_delta(base, delta)
    connection.execute("DELETE FROM folds WHERE id BETWEEN ? AND ?", bounds(thread_no))
    _fold_full(connection, thread_no, version, base)


def fold_all(connection: sqlite3.Connection, thread_no: int, line: Line) -> None:
    """Write the state at the end of a new thread's line once, from its changes."""
    base = read_state(connection, thread_no, line, on_head_line=False)
    _fold_full(connection, thread_no, line[-1][1], base)


def _fold_full(connection: sqlite3.Connection, thread_no: int, version: int, state: State) -> None:
    changed = connection.execute("SELECT 1 FROM state_changes WHERE id BETWEEN ? AND ? LIMIT 1", bounds(thread_no))
    # An empty state is written too, so that the changes of lines left behind count as folded.
    if changed.fetchone() is not None:
        _insert_fold(connection, thread_no, version, FULL, Delta(values=dict(state)))


def read_state(connection: sqlite3.Connection, thread_no: int, line: Line, *, on_head_line: bool) -> State:
    """The state at the end of a line; folds help where it is the head's line or its beginning."""
    start, end = bounds(thread_no)
    if line:
        end = place(thread_no, line[-1][1])
    state: State = {}
    if on_head_line:
        folds = connection.execute("SELECT id, change FROM folds WHERE id BETWEEN ? AND ? ORDER BY id", (start, end))
        for key, change in folds:
            state = apply_delta(state, decode_delta(change))
            start = key + 1
    changes = connection.execute(
        "SELECT id, change FROM state_changes WHERE id BETWEEN ? AND ? ORDER BY id", (start, end)
    )
    for key, change in changes:
        if contains(line, number_of(key)):
            state = apply_delta(state, decode_delta(change))
    return state


def _fold(connection: sqlite3.Connection, thread_no: int, version: int) -> None:
    start, end = bounds(thread_no)
    rows = connection.execute(
        "SELECT id, level, length(change) FROM folds WHERE id BETWEEN ? AND ? ORDER BY id", (start, end)
    ).fetchall()
    folded = len(rows)
    rows += connection.execute(
        "SELECT id, 0, length(change) FROM state_changes WHERE id BETWEEN ? AND ? ORDER BY id",
        (rows[-1][0] + 1 if rows else start, end),
    ).fetchall()
    merge = next_merge([Piece(level, size) for _, level, size in rows])
    if merge is None:
        return
    at = len(rows) - merge.count
    parts = [
        _read(connection, "folds" if index < folded else "state_changes", rows[index][0])
        for index in range(at, len(rows))
    ]
    merged = reduce(compose, parts)
    if at == 0:
        merged = Delta(values=dict(apply_delta({}, merged)))
    connection.execute("DELETE FROM folds WHERE id BETWEEN ? AND ?", (rows[at][0], end))
    _insert_fold(connection, thread_no, version, merge.level, merged)


def _read(connection: sqlite3.Connection, table: str, key: int) -> Delta:
    (change,) = connection.execute(f"SELECT change FROM {table} WHERE id = ?", (key,)).fetchone()  # noqa: S608
    return decode_delta(change)


def insert_change(connection: sqlite3.Connection, thread_no: int, version: int, delta: Delta) -> None:
    """Keep a change, without a look at what it is folded into."""
    connection.execute("INSERT INTO state_changes VALUES (?, ?)", (place(thread_no, version), encode_delta(delta)))


def _insert_fold(connection: sqlite3.Connection, thread_no: int, version: int, level: int, delta: Delta) -> None:
    connection.execute("INSERT INTO folds VALUES (?, ?, ?)", (place(thread_no, version), level, encode_delta(delta)))
