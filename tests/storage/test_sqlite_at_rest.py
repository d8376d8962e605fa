"""A file that nobody has open is read as it is: also where this user may make nothing beside it, and nothing is left beside it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from clew_storage import open_storage
from clew_storage.conformance.examples import KEY, a_grant, a_line, a_write
from tests.support.privileges import bound_by_permissions

# Opens, says so, waits for a line and says how far the thread is; or the refusal.
READER = """
import asyncio, sys
from clew_storage import StorageError, open_storage
from clew_storage.conformance.examples import KEY
async def read():
    backend = open_storage(sys.argv[1])
    try:
        await backend.open()
        print("open", flush=True)
        sys.stdin.readline()
        print((await backend.threads.get_head(KEY)).thread.head_version)
        async with asyncio.timeout(10):
            await backend.check()
    except StorageError as error:
        print(error)
    await backend.close()
asyncio.run(read())
"""


async def written(folder: Path) -> Path:
    """A database with one thread of three checkpoints in a folder of its own, closed again."""
    folder.mkdir()  # noqa: ASYNC240 - nothing that waits
    backend = open_storage(f"sqlite://{folder}/clew.db")
    await backend.open()
    await a_line(backend, 3)
    await backend.close()
    (folder / "clew.db.lock").unlink()
    return folder / "clew.db"


@contextmanager
def closed_to_this_user(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def a_reader(path: Path) -> subprocess.Popen[str]:
    """A process without a right to write the folder."""
    command = bound_by_permissions(sys.executable, "-c", READER, f"sqlite://{path}?mode=ro")
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def read(path: Path) -> str:
    """What such a process reads, or how it is refused."""
    with a_reader(path) as reader:
        said, _ = reader.communicate("\n", timeout=30)
    return said.removeprefix("open\n").removesuffix("\n")


def crash(path: Path) -> None:
    """Leave the log beside the file, as a process that died."""
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE ownership SET generation = generation + 1")
        for name in ("clew.db", "clew.db-wal", "clew.db-shm"):
            shutil.copy(path.with_name(name), elsewhere)
    for each in elsewhere.iterdir():
        shutil.move(each, path.parent / each.name)
    elsewhere.rmdir()


async def test_it_is_read_where_the_folder_may_not_be_written(tmp_path: Path) -> None:
    path = await written(tmp_path / "shared")
    with closed_to_this_user(path.parent):
        assert read(path) == "3"
    assert names_in(path.parent) == ["clew.db"]


async def test_an_empty_log_beside_it_has_nothing_to_read(tmp_path: Path) -> None:
    path = await written(tmp_path / "shared")
    path.with_name("clew.db-wal").touch()
    with closed_to_this_user(path.parent):
        assert read(path) == "3"


async def test_a_log_that_a_crash_left_with_its_index_does_not_stand_in_the_way(tmp_path: Path) -> None:
    path = await written(tmp_path / "shared")
    crash(path)
    with closed_to_this_user(path.parent):
        assert read(path) == "3"


async def test_a_log_without_its_index_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = await written(tmp_path / "shared")
    crash(path)
    path.with_name("clew.db-shm").unlink()
    with closed_to_this_user(path.parent):
        said = read(path)
    assert f"make the folder {path.parent} writable for this user, or read a copy" in said
    assert "clew.db-wal" in said


@pytest.mark.parametrize("closed", [False, True], ids=["and has open", "and has closed"])
async def test_a_file_that_a_server_opens_meanwhile_is_not_read_as_if_it_stood_still(
    tmp_path: Path, *, closed: bool
) -> None:
    path = await written(tmp_path / "shared")
    with closed_to_this_user(path.parent), a_reader(path) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        path.parent.chmod(0o755)
        server = open_storage(f"sqlite://{path}")
        await server.open()
        if closed:
            await server.close()
        said, _ = reader.communicate("\n", timeout=30)
        await server.close()
    assert "another process has opened" in said
    assert "open it anew" in said


@pytest.mark.parametrize("mode", [0o600, 0o444])
async def test_a_reader_leaves_nothing_beside_it(tmp_path: Path, mode: int) -> None:
    path = await written(tmp_path / "own")
    path.chmod(mode)
    before = path.read_bytes()
    reader = open_storage(f"sqlite://{path}?mode=ro")
    await reader.open()
    assert await reader.threads.get_head(KEY) is not None
    await reader.close()
    assert names_in(path.parent) == ["clew.db"]
    assert path.read_bytes() == before


async def test_a_reader_takes_away_what_an_earlier_one_left(tmp_path: Path) -> None:
    path = await written(tmp_path / "own")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT count(*) FROM threads")
    assert names_in(path.parent) == ["clew.db", "clew.db-shm", "clew.db-wal"]
    assert read(path) == "3"
    assert names_in(path.parent) == ["clew.db"]


async def test_a_reader_leaves_the_log_of_a_crash(tmp_path: Path) -> None:
    path = await written(tmp_path / "own")
    crash(path)
    assert read(path) == "3"
    assert names_in(path.parent) == ["clew.db", "clew.db-shm", "clew.db-wal"]


async def test_a_reader_leaves_the_log_of_a_server_of_a_server_that_began_meanwhile(tmp_path: Path) -> None:
    path = await written(tmp_path / "own")
    reader, server = open_storage(f"sqlite://{path}?mode=ro"), open_storage(f"sqlite://{path}")
    await reader.open()
    await server.open()
    grant = await a_grant(server)
    await reader.close()
    assert names_in(path.parent) == ["clew.db", "clew.db-shm", "clew.db-wal", "clew.db.lock"]
    await server.threads.append(a_write(grant, 4))
    await server.close()
