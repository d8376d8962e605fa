"""A command that works on a database makes none where there is none, and says what is wrong with its name."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import pytest

from clew_engine import Storage
from tests.cli.conftest import run_clew, unframed
from tests.support.postgres import a_name, in_schema

ON_WHAT_IS_THERE = [
    ("retention", "--older-than", "30d"),
    ("retention", "--keep-last", "3", "--dry-run"),
    ("storage", "stats"),
    ("export", "threads.jsonl"),
]


# Each works on a database that is there and has nothing in it.
ON_ANY = [
    ("migrate",),
    ("retention", "--keep-last", "3"),
    ("storage", "stats"),
    ("export", "threads.jsonl"),
    ("import", "archive.jsonl"),
    ("import", "archive.jsonl", "--dry-run"),
]


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return [each.name for each in folder.iterdir()]


@pytest.mark.parametrize("command", ON_WHAT_IS_THERE)
def test_a_database_that_is_not_there_is_refused_and_nothing_is_made(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run_clew(*command, "--storage", "sqlite://none.db", "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    told = json.loads(done.stderr)["error"]
    assert told["code"] == "storage_unavailable"
    assert "none.db does not exist; name the file of a database that is there" in told["message"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("retention", "--keep-last", "3"), ("storage", "stats"), ("migrate",)])
def test_a_url_that_names_no_database_is_not_understood(command: tuple[str, ...]) -> None:
    done = run_clew(*command, "--storage", "shop.db", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    told = json.loads(done.stderr)["error"]
    assert told["code"] == "usage"
    assert "'shop.db' is not a storage URL; write sqlite://shop.db for a file" in told["message"]


@pytest.mark.parametrize("command", [*ON_WHAT_IS_THERE, ("import", "archive.jsonl", "--dry-run")])
async def test_a_schema_that_is_not_there_is_refused_and_none_is_made(
    postgres_dsn: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    async with Storage("memory://") as storage:
        await storage.export(tmp_path / "archive.jsonl")
    schema = a_name()
    url = in_schema(postgres_dsn, schema)
    done = await asyncio.to_thread(run_clew, *command, "--storage", url, "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f'there is no schema "{schema}" in the database' in json.loads(done.stderr)["error"]["message"]
    connection = await asyncpg.connect(postgres_dsn)
    assert not await connection.fetchval("SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema)
    await connection.close()
    assert names(tmp_path) == ["archive.jsonl"]


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """With a clew.toml that names a database, files that none can be opened of, and an archive."""
    (tmp_path / "clew.toml").write_text('storage = "sqlite://of_the_file.db"\nport = 7000\n')
    for name in ("of_the_file.db", "of_the_environment.db", "of_the_option.db"):
        (tmp_path / name).write_text("no database " * 1000)
    async with Storage("memory://") as storage:
        await storage.export(tmp_path / "archive.jsonl")
    return tmp_path


def opened(folder: Path, *command: str, environment: Mapping[str, str] | None = None) -> str:
    """The name of the database that the command could not open."""
    done = run_clew(*command, "--json", folder=folder, environment=environment)
    assert (done.returncode, done.stdout) == (1, "")
    message: str = json.loads(done.stderr)["error"]["message"]
    (name,) = re.findall(r"\w+\.db", message)
    return str(name)


@pytest.mark.parametrize("command", ON_ANY, ids=" ".join)
def test_the_option_goes_before_the_environment_before_the_file_of_settings(
    folder: Path, command: tuple[str, ...]
) -> None:
    environment = {"CLEW_STORAGE": "sqlite://of_the_environment.db"}
    option = ("--storage", "sqlite://of_the_option.db")
    assert opened(folder, *command) == "of_the_file.db"
    assert opened(folder, *command, environment={"CLEW_STORAGE": ""}) == "of_the_file.db"
    assert opened(folder, *command, environment=environment) == "of_the_environment.db"
    assert opened(folder, *command, *option, environment=environment) == "of_the_option.db"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("storage = 5\n", "clew.toml: storage is the URL of a database, and not 5"),
        ("storag = 'sqlite://x.db'\n", "there is no setting 'storag'; the nearest is 'storage'"),
        ("storage\n", "Invalid value: clew.toml is not TOML"),
        ("storage = 'shop.db'\n", "storage in clew.toml: 'shop.db' is not a storage URL"),
        ("storage = ''\n", "storage in clew.toml: '' is not a storage URL"),
    ],
)
@pytest.mark.parametrize("command", ON_ANY[:3], ids=" ".join)
def test_a_file_of_settings_that_is_wrong_is_said(folder: Path, command: tuple[str, ...], text: str, told: str) -> None:
    (folder / "clew.toml").write_text(text)
    before = names(folder)
    done = run_clew(*command, "--json", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "usage"
    assert told in error["message"]
    assert names(folder) == before


def test_a_file_of_settings_that_is_wrong_is_in_nobodys_way_who_names_the_database(folder: Path) -> None:
    (folder / "clew.toml").write_text("storag = 5\n")
    assert opened(folder, "storage", "stats", "--storage", "sqlite://of_the_option.db") == "of_the_option.db"


@pytest.mark.parametrize("command", [("migrate",), ("retention", "--keep-last", "3")], ids=" ".join)
def test_what_changes_a_database_as_a_whole_wants_it_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "clew.toml").write_text("port = 7000\n")
    done = run_clew(*command, "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    message = json.loads(done.stderr)["error"]["message"]
    assert "say which database: --storage URL, CLEW_STORAGE, or `storage` in clew.toml" in message


@pytest.mark.parametrize("command", ON_ANY, ids=" ".join)
def test_an_empty_url_is_not_taken_for_none(folder: Path, command: tuple[str, ...]) -> None:
    done = run_clew(*command, "--storage", "", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "it is empty; give a value, or leave it out" in unframed(done.stderr)


@pytest.mark.parametrize("command", sorted({each[:2] if each[0] == "storage" else each[:1] for each in ON_ANY}))
def test_the_help_says_where_the_database_comes_from(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run_clew(*command, "--help", folder=tmp_path, environment={"COLUMNS": "200"})
    told = unframed(done.stdout)
    assert "Without it: `storage` in clew.toml" in told
    assert "CLEW_STORAGE" in told
