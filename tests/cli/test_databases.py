"""A command that works on a database makes none where there is none, and says what is wrong with its name."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import asyncpg
import pytest

from clew_engine import Storage
from tests.cli.conftest import run_clew
from tests.support.postgres import a_name, in_schema

ON_WHAT_IS_THERE = [
    ("retention", "--older-than", "30d"),
    ("retention", "--keep-last", "3", "--dry-run"),
    ("storage", "stats"),
    ("export", "threads.jsonl"),
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
