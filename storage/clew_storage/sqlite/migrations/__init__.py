"""The numbered steps that bring a file from one format to the next. A published step is never changed."""

from __future__ import annotations

import sqlite3

from clew_storage.errors import StorageRefused
from clew_storage.numbered_migrations import Migration, migrations_of, refuse_unknown
from clew_storage.records import FormatChange

# Marks the file as Clew's own in its header ("Clew" as four bytes).
APPLICATION_ID = 0x436C6577


def known_migrations() -> tuple[Migration, ...]:
    """Every step, in order."""
    return migrations_of(__name__)


def stored_format(connection: sqlite3.Connection) -> int:
    """The format of an open file, 0 for an empty one. Raises `StorageRefused` for a database of something else."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID or "formats" not in tables:
        raise StorageRefused("it is a SQLite database, but not one of Clew's; name another file")
    (version,) = connection.execute("SELECT max(version) FROM formats").fetchone()
    return int(version)


def refuse_newer(version: int) -> None:
    """Raise `StorageRefused` for a format that this program does not know."""
    refuse_unknown(version, known_migrations())


def migrate(connection: sqlite3.Connection, *, upto: int | None = None) -> FormatChange:
    """Take the steps that the file lacks, a transaction each; `upto` stops early, as an older program would."""
    before = current = stored_format(connection)
    refuse_newer(current)
    for step in known_migrations():
        if step.version <= current or (upto is not None and step.version > upto):
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not current:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute("CREATE TABLE formats (version INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            for statement in _statements(step.sql):
                connection.execute(statement)
            connection.execute("INSERT INTO formats VALUES (?, ?)", (step.version, step.name))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        current = step.version
    return FormatChange(before, current)


def _statements(sql: str) -> list[str]:
    statements, begun = [], ""
    for line in sql.splitlines(keepends=True):
        begun += line
        if sqlite3.complete_statement(begun):
            statements.append(begun)
            begun = ""
    return statements
