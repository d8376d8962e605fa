"""A SQLite storage owns its file, and refuses what cannot be its own with what to do about it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clew_storage import (
    DataCorrupt,
    Grant,
    StorageError,
    StorageInUse,
    StorageRefused,
    StorageUnavailable,
    ThreadFilter,
    open_storage,
)
from clew_storage.conformance.examples import KEY, NOW, a_grant, a_line, a_write
from clew_storage.sqlite.database_files import network_file_system
from clew_storage.sqlite.migrations import known_migrations

SERVER = """
import asyncio, sys
from clew_storage import open_storage
async def serve():
    backend = open_storage(sys.argv[1])
    await backend.open()
    print("open", flush=True)
    await asyncio.Event().wait()
asyncio.run(serve())
"""


async def refusal(url: str) -> str:
    backend = open_storage(url)
    with pytest.raises(StorageRefused) as refused:
        await backend.open()
    await backend.close()
    return str(refused.value)


async def written(path: Path, length: int = 3) -> Path:
    """A database with one thread, closed again."""
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    await a_line(backend, length)
    await backend.close()
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def a_server(url: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the storage open."""
    with subprocess.Popen([sys.executable, "-c", SERVER, url], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == "open\n"
            yield server
        finally:
            server.kill()


async def test_a_folder_is_refused_with_a_name_for_a_file(tmp_path: Path) -> None:
    assert f"name a file in it: sqlite://{tmp_path}/clew.db" in await refusal(f"sqlite://{tmp_path}")
    assert names_in(tmp_path) == []


async def test_a_file_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "make it first" in await refusal(f"sqlite://{tmp_path}/none/clew.db")


async def test_what_is_not_a_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear Ariadne, " * 999)
    assert "not a SQLite database" in await refusal(f"sqlite://{path}")
    assert path.read_bytes() == b"Dear Ariadne, " * 999
    assert names_in(tmp_path) == ["letter.txt"]


async def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE formats (version INTEGER)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    assert "not one of Clew's" in await refusal(f"sqlite://{path}")
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", ["rw", "ro"])
async def test_a_newer_format_is_refused_and_left_as_it_is(tmp_path: Path, mode: str) -> None:
    path = await written(tmp_path / "newer.db")
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO formats VALUES (9999, 'from the future')")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    said = await refusal(f"sqlite://{path}?mode={mode}")
    assert "the database has format 9999" in said
    assert "use the newer version of Clew" in said
    assert path.read_bytes() == before


async def test_a_read_only_file_is_refused_for_writing_and_opens_for_reading(tmp_path: Path) -> None:
    path = await written(tmp_path / "clew.db")
    path.chmod(0o444)
    assert "?mode=ro" in await refusal(f"sqlite://{path}")
    backend = open_storage(f"sqlite://{path}?mode=ro")
    await backend.open()
    assert await backend.threads.get_head(KEY) is not None
    await backend.close()


async def test_damage_is_told_and_never_taken_for_data(tmp_path: Path) -> None:
    path = await written(tmp_path / "clew.db", 200)
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    connection.close()
    whole = bytearray(path.read_bytes())
    whole[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(whole)
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    with pytest.raises(DataCorrupt):
        await backend.messages.list_messages(KEY)
    await backend.close()


async def test_a_row_that_cannot_be_decoded_is_corrupt(tmp_path: Path) -> None:
    path = await written(tmp_path / "clew.db")
    for table, column, value in (("state_changes", "change", b"\xff"), ("checkpoints", "status", 99)):
        connection = sqlite3.connect(path)
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        connection.commit()
        connection.close()
    backend = open_storage(f"sqlite://{path}")
    await backend.open()
    with pytest.raises(DataCorrupt):
        await backend.threads.get_state(KEY, version=None)
    with pytest.raises(DataCorrupt):
        await backend.threads.get_head(KEY)
    await backend.close()


async def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    await written(tmp_path / "empty.db")


async def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    backend = open_storage(f"sqlite://{tmp_path}/clew.db")
    await backend.open()
    await a_line(backend, 3)
    assert names_in(tmp_path) == ["clew.db", "clew.db-shm", "clew.db-wal", "clew.db.lock"]
    for name in names_in(tmp_path):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    await backend.close()
    assert names_in(tmp_path) == ["clew.db", "clew.db.lock"]


async def test_a_second_opener_in_this_process_is_told_its_own_pid(tmp_path: Path) -> None:
    first, second = (open_storage(f"sqlite://{tmp_path}/clew.db") for _ in range(2))
    await first.open()
    with pytest.raises(StorageInUse) as refused:
        await second.open()
    assert refused.value.pid == os.getpid()
    await second.close()
    await first.check()
    await first.close()


async def test_a_file_has_one_owner_by_whatever_link_it_is_named(tmp_path: Path) -> None:
    first = open_storage(f"sqlite://{tmp_path}/clew.db")
    await first.open()
    (tmp_path / "soft.db").symlink_to(tmp_path / "clew.db")
    with pytest.raises(StorageInUse):
        await open_storage(f"sqlite://{tmp_path}/soft.db").open()
    (tmp_path / "hard.db").hardlink_to(tmp_path / "clew.db")
    with pytest.raises(StorageRefused, match="another name"):
        await open_storage(f"sqlite://{tmp_path}/hard.db").open()
    await first.close()


async def test_another_process_is_named_and_its_death_frees_the_file(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/clew.db"
    with a_server(url) as server:
        backend = open_storage(url)
        with pytest.raises(StorageInUse) as refused:
            await backend.open()
        assert refused.value.pid == server.pid
        assert f"process {server.pid}" in str(refused.value)
        assert "clew --target" in str(refused.value)
        server.send_signal(signal.SIGKILL)
        server.wait(timeout=30)
    await backend.open()
    await a_line(backend, 1)
    await backend.close()


async def test_opening_an_open_backend_again_is_refused(tmp_path: Path) -> None:
    backend = open_storage(f"sqlite://{tmp_path}/clew.db")
    await backend.open()
    with pytest.raises(StorageRefused, match="open already"):
        await backend.open()
    await backend.close()


async def test_a_failed_opening_gives_the_file_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = open_storage(f"sqlite://{tmp_path}/clew.db")
    monkeypatch.setattr("clew_storage.sqlite.sessions.migrate", lambda _: sqlite3.connect("/nowhere/at/all"))
    with pytest.raises(StorageError):
        await backend.open()
    monkeypatch.undo()
    await backend.open()
    await backend.close()


class TestReadOnly:
    async def test_a_served_file_can_be_read_and_shows_what_is_committed(self, tmp_path: Path) -> None:
        url = f"sqlite://{tmp_path}/clew.db"
        server, reader = open_storage(url), open_storage(f"{url}?mode=ro")
        await server.open()
        grant = await a_line(server, 2)
        await reader.open()
        await server.threads.append(a_write(grant, 3))
        head = await reader.threads.get_head(KEY)
        assert head is not None
        assert head.thread.head_version == 3
        threads = await reader.threads.list_threads("acme", ThreadFilter(), by_update=False, after=None, limit=9)
        assert len(threads) == 1
        await reader.close()
        await server.threads.append(a_write(grant, 4))
        await server.close()

    async def test_it_takes_no_writes_and_changes_no_byte(self, tmp_path: Path) -> None:
        path = await written(tmp_path / "clew.db")
        before = path.read_bytes()
        reader = open_storage(f"sqlite://{path}?mode=ro")
        await reader.open()
        await reader.check()
        for write in (
            a_grant(reader),
            reader.threads.append(a_write(Grant(KEY, 1, "write"), 4)),
            reader.threads.delete_thread(KEY, request=None, now_ms=NOW),
        ):
            with pytest.raises(StorageUnavailable, match="mode=ro"):
                await write
        assert not reader.leases.sees_all()
        await reader.close()
        assert path.read_bytes() == before

    async def test_what_is_not_there_or_empty_is_refused(self, tmp_path: Path) -> None:
        assert "does not exist" in await refusal(f"sqlite://{tmp_path}/none.db?mode=ro")
        (tmp_path / "empty.db").touch()
        assert "is empty" in await refusal(f"sqlite://{tmp_path}/empty.db?mode=ro")
        assert names_in(tmp_path) == ["empty.db"]

    async def test_an_older_format_is_to_be_opened_for_writing_first(self, tmp_path: Path) -> None:
        path = await written(tmp_path / "clew.db")
        connection = sqlite3.connect(path)
        connection.execute("DELETE FROM formats WHERE version = ?", (known_migrations()[-1].version,))
        connection.commit()
        connection.close()
        assert "bring it up to date" in await refusal(f"sqlite://{path}?mode=ro")


class TestNetworkFileSystems:
    @pytest.fixture
    def mounts(self, tmp_path: Path) -> Path:
        path = tmp_path / "mounts"
        path.write_text(
            "/dev/vda / ext4 rw 0 0\nserver:/x /mnt/far nfs4 rw 0 0\n/dev/vdb /mnt/far/near xfs rw 0 0\n"
            "//host/share /mnt/with\\040blank cifs rw 0 0\nnone /over ext4 rw 0 0\nfar:/ /over nfs rw 0 0\n"
        )
        return path

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("/var/clew.db", None),
            ("/mnt/far/clew.db", "nfs4"),
            ("/mnt/far/near/clew.db", None),
            ("/mnt/farther/clew.db", None),
            ("/mnt/with blank/clew.db", "cifs"),
            ("/over/clew.db", "nfs"),
        ],
    )
    def test_the_innermost_mount_decides(self, mounts: Path, path: str, kind: str | None) -> None:
        assert network_file_system(Path(path), mounts) == kind

    def test_where_the_system_does_not_tell_nothing_is_assumed(self, tmp_path: Path) -> None:
        assert network_file_system(tmp_path, tmp_path / "none") is None

    async def test_they_are_refused_unless_allowed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("clew_storage.sqlite.database_files.network_file_system", lambda _: "nfs4")
        assert "allow_network_fs=1" in await refusal(f"sqlite://{tmp_path}/clew.db")
        backend = open_storage(f"sqlite://{tmp_path}/clew.db?allow_network_fs=1")
        await backend.open()
        await backend.close()
