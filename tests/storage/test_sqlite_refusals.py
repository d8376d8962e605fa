"""A file that is refused is left as it was, and so is its folder: no lock file, no log, no byte."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew_storage import StorageInUse, StorageRefused, open_storage
from clew_storage.conformance.examples import KEY, a_line
from clew_storage.sqlite import file_formats
from clew_storage.sqlite.migrations import APPLICATION_ID, known_migrations

NEWEST = known_migrations()[-1].version


async def written(path: Path) -> Path:
    """A database of ours that was closed in good order, brought here from elsewhere: without its lock file."""
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    await a_line(backend, 3)
    await backend.close()
    path.with_name(path.name + ".lock").unlink()
    return path


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def crash(path: Path, *statements: str) -> Path:
    """Leave the file as a process that died did after these statements, with its log beside it."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    if path.exists():
        shutil.move(path, elsewhere)
    with closing(sqlite3.connect(elsewhere / path.name, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        for each in elsewhere.iterdir():
            shutil.copy(each, path.parent)
    shutil.rmtree(elsewhere)
    return path


def a_letter(path: Path) -> None:
    path.write_bytes(b"Dear Ariadne, " * 999)


def the_head_of_a_database(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\xa5" * 5000)


def anothers_database(path: Path) -> None:
    execute(path, "CREATE TABLE formats (version INTEGER)")


def anothers_database_with_a_log(path: Path) -> None:
    execute(path, "PRAGMA journal_mode = WAL", "CREATE TABLE formats (version INTEGER)")


def anothers_database_left_in_a_crash(path: Path) -> None:
    execute(path, "CREATE TABLE songs (name TEXT)")
    crash(path, "PRAGMA journal_mode = WAL", "INSERT INTO songs VALUES ('one')")


def anothers_database_that_is_all_in_its_log(path: Path) -> None:
    crash(path, "PRAGMA journal_mode = WAL", "CREATE TABLE songs (name TEXT)")


def anothers_database_left_in_a_transaction(path: Path) -> None:
    execute(path, "CREATE TABLE songs (name TEXT)")
    crash(
        path,
        "PRAGMA cache_size = 1",
        "BEGIN IMMEDIATE",
        "INSERT INTO songs VALUES ('one')",
        f"INSERT INTO songs VALUES ('{'la' * 9999}')",
    )


def a_newer_format(path: Path) -> None:
    asyncio.run(written(path))
    execute(path, "INSERT INTO formats VALUES (9999, 'from the future')")


def a_newer_format_with_its_lock_file(path: Path) -> None:
    a_newer_format(path)
    path.with_name(path.name + ".lock").write_text("123456\n")


def a_newer_format_left_in_a_crash(path: Path) -> None:
    a_newer_format(path)
    crash(path, "UPDATE ownership SET generation = generation + 1")


def an_older_format(path: Path) -> None:
    asyncio.run(written(path))
    execute(path, f"DELETE FROM formats WHERE version = {NEWEST}")


def a_file_for_reading(path: Path) -> None:
    asyncio.run(written(path))
    path.chmod(0o444)


def a_file_with_two_names(path: Path) -> None:
    asyncio.run(written(path))
    (path.parent / "other.db").hardlink_to(path)


def an_empty_file(path: Path) -> None:
    path.touch()


def a_folder(path: Path) -> None:
    path.mkdir()


def nothing(path: Path) -> None:
    pass


ANOTHERS = "not one of Clew's"
NEWER = "use the newer version of Clew"
REFUSED = [
    (a_letter, "rw", "not a SQLite database"), (a_letter, "ro", "not a SQLite database"),
    (the_head_of_a_database, "rw", "cannot be opened"), (the_head_of_a_database, "ro", "cannot be opened"),
    (anothers_database, "rw", ANOTHERS), (anothers_database, "ro", ANOTHERS),
    (anothers_database_with_a_log, "rw", ANOTHERS), (anothers_database_with_a_log, "ro", ANOTHERS),
    (anothers_database_left_in_a_crash, "rw", ANOTHERS), (anothers_database_left_in_a_crash, "ro", ANOTHERS),
    (anothers_database_that_is_all_in_its_log, "rw", ANOTHERS), (anothers_database_that_is_all_in_its_log, "ro", ANOTHERS),
    (anothers_database_left_in_a_transaction, "rw", ANOTHERS), (anothers_database_left_in_a_transaction, "ro", ANOTHERS),
    (a_newer_format, "rw", NEWER), (a_newer_format, "ro", NEWER),
    (a_newer_format_with_its_lock_file, "rw", NEWER), (a_newer_format_with_its_lock_file, "ro", NEWER),
    (a_newer_format_left_in_a_crash, "rw", NEWER), (a_newer_format_left_in_a_crash, "ro", NEWER),
    (an_older_format, "ro", "bring it up to date"),
    (a_file_for_reading, "rw", "is read-only"),
    (a_file_with_two_names, "rw", "another name"),
    (an_empty_file, "ro", "is empty"),
    (a_folder, "rw", "is a folder"), (a_folder, "ro", "is a folder"),
    (nothing, "rw", "does not exist"), (nothing, "ro", "does not exist"),
]  # fmt: skip


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every name in a folder with its mode and bytes."""
    return {each.name: (each.stat().st_mode, each.read_bytes() if each.is_file() else b"") for each in folder.iterdir()}


@pytest.mark.parametrize(("make", "mode", "says"), REFUSED)
def test_a_refused_file_and_its_folder_stay_as_they_were(
    tmp_path: Path, make: Callable[[Path], None], mode: str, says: str
) -> None:
    path = tmp_path / "clew.db"
    make(path)
    before = contents(tmp_path)
    backend = open_storage(f"sqlite://{path}?mode={mode}")
    with pytest.raises(StorageRefused, match=says):
        asyncio.run(backend.open())
    assert contents(tmp_path) == before


async def test_a_file_that_changes_before_it_is_owned_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await written(tmp_path / "clew.db")
    take = file_formats.check_format

    def change(looked_at: Path, *, read_only: bool) -> None:
        execute(path, "INSERT OR IGNORE INTO formats VALUES (9999, 'from the future')")
        take(looked_at, read_only=read_only)

    monkeypatch.setattr("clew_storage.sqlite.sessions.check_format", change)
    with pytest.raises(StorageRefused, match=NEWER):
        await open_storage(f"sqlite://{path}").open()


async def test_who_owns_a_file_is_told_before_what_is_wrong_with_it(tmp_path: Path) -> None:
    first, second = (open_storage(f"sqlite://{tmp_path}/clew.db") for _ in range(2))
    await first.open()
    await a_line(first, 3)
    execute(tmp_path / "clew.db", "INSERT INTO formats VALUES (9999, 'from the future')")
    with pytest.raises(StorageInUse):
        await second.open()
    await first.close()


async def test_the_format_of_a_file_is_in_the_file_itself_as_soon_as_it_is_open(tmp_path: Path) -> None:
    backend = open_storage(f"sqlite://{tmp_path}/clew.db")
    await backend.open()
    shutil.copy(tmp_path / "clew.db", tmp_path / "alone.db")
    with closing(sqlite3.connect(tmp_path / "alone.db")) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("SELECT max(version) FROM formats").fetchone() == (NEWEST,)
    await backend.close()


async def test_a_newer_format_that_is_in_the_log_alone_is_refused_and_left_there(tmp_path: Path) -> None:
    path = crash(await written(tmp_path / "clew.db"), "INSERT INTO formats VALUES (9999, 'from the future')")
    before = contents(tmp_path)
    for mode in ("ro", "rw"):
        with pytest.raises(StorageRefused, match=NEWER):
            await open_storage(f"sqlite://{path}?mode={mode}").open()
    after = contents(tmp_path)
    assert [after[name] for name in ("clew.db", "clew.db-wal")] == [before[name] for name in ("clew.db", "clew.db-wal")]


async def test_a_file_of_ours_that_a_crash_left_amid_a_checkpoint_is_opened(tmp_path: Path) -> None:
    path = await written(tmp_path / "clew.db")
    crash(path, "INSERT INTO state_changes VALUES (1 << 60, zeroblob(99999))")
    whole, log = path.read_bytes(), path.with_name("clew.db-wal").read_bytes()
    frames = [log[at : at + 24 + 4096] for at in range(32, len(log), 24 + 4096)]
    # The first page has been written back, and says how long the file will be; the others have not.
    path.write_bytes(next(frame[24:] for frame in frames if frame[:4] == b"\0\0\0\1") + whole[4096:])
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    assert await backend.threads.get_head(KEY) is not None
    await backend.close()
