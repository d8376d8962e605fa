"""What `clew serve` does not serve is said, and left as it was."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.rpc.serve_process import clew, serve, written


async def test_a_database_in_use_is_refused_by_the_name_of_its_owner(shop: Path) -> None:
    async with serve(shop) as server:
        process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "sqlite://clew.db")
        _, errors = await process.communicate()
        assert process.returncode == 1
        assert f"in use by process {server.process.pid}" in errors.decode()
        port = str(server.said["port"])
        process = await clew(shop, "serve", "shop.py", "--storage", "memory://", CLEW_PORT=port)
        _, errors = await process.communicate()
        assert process.returncode == 1
        assert "taken" in errors.decode()
        process = await clew(shop, "serve", "shop.py", "--storage", "sqlite://new.db", CLEW_PORT=port)
        await process.communicate()
        assert process.returncode == 1
        assert not [name for name in contents(shop) if name.startswith("new.db")]


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


async def test_a_file_that_is_refused_is_left_alone_with_its_folder(shop: Path) -> None:
    with closing(sqlite3.connect(shop / "songs.db")) as songs:
        songs.execute("PRAGMA journal_mode = WAL")
        songs.execute("CREATE TABLE songs (name TEXT)")
    before = contents(shop)
    process = await clew(shop, "serve", "shop.py", "--port", "0", "--storage", "sqlite://songs.db")
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert "not one of Clew's" in errors.decode()
    assert contents(shop) == before


async def test_the_author_s_own_mistake_is_shown_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f():\n    return 1 / 0\n\nf()\n")
    process = await clew(tmp_path, "serve", "bad.py")
    _, errors = await process.communicate()
    assert process.returncode == 1
    told = errors.decode()
    assert 'bad.py", line 2, in f' in told
    assert "importlib" not in told
    assert told.splitlines()[-1] == "clew: bad.py could not be imported: ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "port = 1\nhost 2\n",
            "clew.toml is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 6)",
        ),
        ("busy_timeot = 3\n", "clew.toml: there is no setting 'busy_timeot'; the nearest is 'busy_timeout'"),
        ("[server]\nport = 1\n", "clew.toml: there is no setting 'server'; the nearest is "),
    ],
)
async def test_a_file_of_settings_that_is_wrong_is_said_in_one_line(shop: Path, text: str, said: str) -> None:
    written(shop, "clew.toml", text)
    process = await clew(shop, "serve", "shop.py", "--json")
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert json.loads(errors)["error"]["message"].startswith(f"Invalid value: {said}")
    assert errors.count(b"\n") == 1
