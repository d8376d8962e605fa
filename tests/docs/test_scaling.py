"""The rule of docs/scaling.md, read from the schema that the migrations make."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import asyncpg
import pytest

from clew_engine import Storage
from tests.docs.snippets import ROOT
from tests.support.postgres import in_schema

PAGE = (ROOT / "docs/scaling.md").read_text(encoding="utf-8")
KEY = ["tenant", "thread_id"]
_INDEXES = """
SELECT t.relname AS table, i.relname AS index, x.indisunique AS is_unique, x.indisprimary AS is_primary,
    array(SELECT a.attname::text FROM unnest(x.indkey) WITH ORDINALITY AS k (attnum, n)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum ORDER BY k.n) AS columns
FROM pg_index x
JOIN pg_class t ON t.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE n.nspname = $1
"""


@pytest.fixture
async def schema(postgres_dsn: str) -> AsyncIterator[tuple[asyncpg.Connection[asyncpg.Record], str]]:
    """A schema as the migrations make it, and a connection to look at it."""
    url = in_schema(postgres_dsn)
    async with Storage(url):
        pass
    connection = await asyncpg.connect(postgres_dsn)
    yield connection, url.rpartition("schema=")[2]
    await connection.close()


def told(heading: str) -> dict[str, list[str]]:
    """The table under a heading of the page: its first column, and the names in its second."""
    rows = PAGE.partition(f"### {heading}\n")[2].partition("\n#")[0]
    found = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", rows, re.MULTILINE)
    return {name: re.findall(r"`(\w+)`", columns) for name, columns in found}


async def test_every_primary_key_is_the_one_that_the_page_tells(
    schema: tuple[asyncpg.Connection[asyncpg.Record], str],
) -> None:
    connection, name = schema
    keys = {row["table"]: row["columns"] for row in await connection.fetch(_INDEXES, name) if row["is_primary"]}
    assert keys == told("Tables")
    others = {table for table, columns in keys.items() if columns[:2] != KEY}
    assert others == {"cached_values", "formats", "workers"}


async def test_nothing_is_unique_across_threads(schema: tuple[asyncpg.Connection[asyncpg.Record], str]) -> None:
    connection, name = schema
    rows = await connection.fetch(_INDEXES, name)
    assert [row["index"] for row in rows if row["is_unique"] and not row["is_primary"]] == []


async def test_no_table_has_a_foreign_key(schema: tuple[asyncpg.Connection[asyncpg.Record], str]) -> None:
    connection, name = schema
    query = "SELECT constraint_name FROM information_schema.table_constraints WHERE constraint_schema = $1 AND constraint_type = 'FOREIGN KEY'"
    assert [row[0] for row in await connection.fetch(query, name)] == []


async def test_every_index_that_spans_threads_is_named_with_what_it_is_for(
    schema: tuple[asyncpg.Connection[asyncpg.Record], str],
) -> None:
    connection, name = schema
    spanning = {
        row["index"]: row["columns"]
        for row in await connection.fetch(_INDEXES, name)
        if not row["is_primary"] and row["columns"][:2] != KEY
    }
    assert spanning == told("Indexes across threads")


async def test_every_sequence_and_trigger_is_named(schema: tuple[asyncpg.Connection[asyncpg.Record], str]) -> None:
    connection, name = schema
    for query in (
        "SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema = $1",
        "SELECT DISTINCT trigger_name FROM information_schema.triggers WHERE trigger_schema = $1",
    ):
        found = [row[0] for row in await connection.fetch(query, name)]
        assert [each for each in found if f"`{each}`" not in PAGE] == []
