"""`clew migrate` says what it brought up to date, and from where to where."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from clew_storage.postgres import migrations as postgres_migrations
from clew_storage.postgres.schemas import Schema
from clew_storage.sqlite import migrations as sqlite_migrations
from tests.cli.conftest import run_clew
from tests.support.postgres import a_name, in_schema

NEWEST = sqlite_migrations.known_migrations()[-1].version
NEWEST_SCHEMA = postgres_migrations.known_migrations()[-1].version


def an_older_file(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        sqlite_migrations.migrate(connection, upto=version)


async def an_older_schema(dsn: str, schema: str, version: int) -> None:
    connection = await asyncpg.connect(dsn)
    await postgres_migrations.migrate(connection, Schema(schema), upto=version)
    await connection.close()


def said(folder: Path, *arguments: str) -> str:
    done = run_clew("migrate", *arguments, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_file_is_named_with_its_folder_and_with_both_formats(tmp_path: Path) -> None:
    where = f"sqlite://shop.db, file {tmp_path.resolve() / 'shop.db'} is up to date"
    assert said(tmp_path, "--storage", "sqlite://shop.db") == f"{where}: made with format {NEWEST}\n"
    assert said(tmp_path, "--storage", "sqlite://shop.db") == f"{where}: format {NEWEST}, as before\n"
    an_older_file(tmp_path / "old.db", 3)
    assert f"brought from format 3 to format {NEWEST}" in said(tmp_path, "--storage", "sqlite://old.db")


def test_for_programs_a_file_and_its_formats_are_fields(tmp_path: Path) -> None:
    an_older_file(tmp_path / "old.db", 2)
    assert json.loads(said(tmp_path, "--storage", "sqlite://old.db", "--json")) == {
        "storage": "sqlite://old.db",
        "file": str(tmp_path.resolve() / "old.db"),
        "from": 2,
        "to": NEWEST,
    }


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
def test_a_database_in_memory_names_no_place(tmp_path: Path, url: str) -> None:
    told = json.loads(said(tmp_path, "--storage", url, "--json"))
    assert told.keys() == {"storage", "from", "to"}


async def test_a_schema_is_named_with_both_formats_and_no_password_is(postgres_dsn: str, tmp_path: Path) -> None:
    schema = a_name()
    await an_older_schema(postgres_dsn, schema, 2)
    url = in_schema(postgres_dsn.replace("://clew@", "://clew:geheim@"), schema)
    first = await asyncio.to_thread(said, tmp_path, "--storage", url, "--json")
    told = json.loads(first)
    assert (told["schema"], told["from"], told["to"]) == (schema, 2, NEWEST_SCHEMA)
    again = await asyncio.to_thread(said, tmp_path, "--storage", url)
    assert f", schema {schema} is up to date: format {NEWEST_SCHEMA}, as before" in again
    assert "geheim" not in first + again


@pytest.mark.parametrize("timeout", ["nan", "inf", "-inf", "-1", "1e300", "86401", "9" * 40])
def test_a_time_to_wait_that_is_none_is_refused_and_no_file_is_made(tmp_path: Path, timeout: str) -> None:
    done = run_clew("migrate", "--storage", "sqlite://shop.db", "--timeout", timeout, "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    told = json.loads(done.stderr)["error"]
    assert told["code"] == "usage"
    assert "--timeout" in told["message"]
    assert list(tmp_path.iterdir()) == []


def test_a_url_that_names_no_database_is_refused_without_its_password() -> None:
    done = run_clew("migrate", "--storage", "ada:geheim@db/clew")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ada:***@db/clew" in done.stderr
    assert "geheim" not in done.stderr


async def test_another_migration_is_waited_for_as_long_as_one_says(tmp_path: Path, postgres_dsn: str) -> None:
    schema = a_name()
    other = await asyncpg.connect(postgres_dsn)
    async with other.transaction():
        await other.execute("SELECT pg_advisory_xact_lock($1)", postgres_migrations._lock_number(Schema(schema)))
        url = in_schema(postgres_dsn, schema)
        done = await asyncio.to_thread(run_clew, "migrate", "--storage", url, "--timeout", "0", folder=tmp_path)
    await other.close()
    assert done.returncode != 0
    assert "another session migrates the schema" in done.stderr
