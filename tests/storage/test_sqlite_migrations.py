"""Formats: a new file and one brought up step by step are the same in the end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew_storage import StorageRefused
from clew_storage.numbered_migrations import Migration
from clew_storage.sqlite import migrations
from clew_storage.sqlite.migrations import APPLICATION_ID, known_migrations, migrate, stored_format

NEWEST = known_migrations()[-1].version


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(tmp_path / "clew.db", isolation_level=None)
    yield opened
    opened.close()


def schema(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()


def fresh_schema() -> list[tuple[str, str, str]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    found = schema(connection)
    connection.close()
    return found


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert [step.version for step in known_migrations()] == list(range(1, NEWEST + 1))


@pytest.mark.parametrize("older", range(1, NEWEST))
def test_a_file_of_an_older_format_ends_as_a_new_one_does(connection: sqlite3.Connection, older: int) -> None:
    migrate(connection, upto=older)
    assert stored_format(connection) == older
    migrate(connection)
    assert schema(connection) == fresh_schema()
    assert connection.execute("SELECT version FROM formats").fetchall() == [(n + 1,) for n in range(NEWEST)]


def test_a_file_brought_up_one_step_at_a_time_ends_as_a_new_one_does(connection: sqlite3.Connection) -> None:
    for version in range(1, NEWEST + 1):
        migrate(connection, upto=version)
    assert schema(connection) == fresh_schema()


def test_migrating_again_changes_nothing(connection: sqlite3.Connection) -> None:
    migrate(connection)
    changes = connection.total_changes
    migrate(connection)
    assert connection.total_changes == changes


def test_the_file_is_marked_as_our_own(connection: sqlite3.Connection) -> None:
    migrate(connection)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_step_that_breaks_off_is_taken_again_from_its_start(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = known_migrations()
    broken = Migration(2, "broken", others[0].sql + "\nCREATE TABLE threads (again INTEGER);\n")
    monkeypatch.setattr(migrations, "known_migrations", lambda: (first, broken))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection)
    assert stored_format(connection) == 1
    monkeypatch.undo()
    migrate(connection)
    assert schema(connection) == fresh_schema()


def test_a_newer_format_is_refused(connection: sqlite3.Connection) -> None:
    migrate(connection)
    connection.execute("INSERT INTO formats VALUES (?, 'later')", (NEWEST + 1,))
    with pytest.raises(StorageRefused, match=f"knows formats up to {NEWEST}"):
        migrate(connection)
