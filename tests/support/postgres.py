"""A real Postgres for the tests, started when first asked for: one from a wheel, of the programs in the folder that CLEW_TEST_POSTGRES_BIN names, or the server whose DSN is in CLEW_TEST_POSTGRES."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import asyncpg

_KEEPER = Path(__file__).parent / "postgres_keeper.py"
# Little memory, and no background work that would wake up in the middle of a count.
OPTIONS = ("shared_buffers=32MB", "max_connections=200", "max_wal_size=512MB", "checkpoint_timeout=1h")
# All that this process makes on a server is named so, for it to be taken away at the end.
_OURS = f"test_{uuid4().hex[:12]}"


class KeptServer:
    """A server of the tests' own, which may be stopped, crashed and started again."""

    def __init__(self, *options: str) -> None:
        self._keeper = subprocess.Popen(
            [sys.executable, _KEEPER, *OPTIONS, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C ends the tests, and their end ends the keeper.
            start_new_session=True,
        )
        self.port = self._answer()
        self.dsn = f"postgresql://clew@127.0.0.1:{self.port}/postgres"

    def tell(self, what: str) -> None:
        """`restart`, `crash`, `stop`, `kill`, `start` or `promote`; returns when it is done."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(f"{what}\n")
        self._keeper.stdin.flush()
        assert self._answer() == "done"

    def close(self) -> None:
        """End it, with everything that it had."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.close()
        self._keeper.wait(timeout=60)
        self._keeper.stdout.close()

    def _answer(self) -> str:
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline().strip()
        assert line, "the test's Postgres did not start; its error is above"
        return line


@contextmanager
def a_server(*options: str) -> Iterator[KeptServer]:
    """A server of one's own; options as in postgresql.conf, `name=value`, or as the keeper has them."""
    server = KeptServer(*options)
    try:
        yield server
    finally:
        server.close()


async def set_option(dsn: str, name: str, value: str | None) -> None:
    """Change an option for all sessions, also those that are open, or (None) leave it to the server's files again; returns when they have heard of it."""
    connection = await asyncpg.connect(dsn)
    change = f"RESET {name}" if value is None else f"SET {name} = {value}"
    await connection.execute(f"ALTER SYSTEM {change}")
    asked = await connection.fetchval("SELECT clock_timestamp(), pg_reload_conf()")
    await connection.close()
    async with asyncio.timeout(30):
        # The server's first process reads its options, tells the other processes to, and then makes a new one, which knows when that was.
        while await _options_read(dsn) < asked:
            pass


async def _options_read(dsn: str) -> datetime:
    connection = await asyncpg.connect(dsn)
    read: datetime = await connection.fetchval("SELECT pg_conf_load_time()")
    await connection.close()
    return read


@contextmanager
def some_dsn() -> Iterator[str]:
    """The DSN of a server that is shared with other tests. One that was named is left as it was."""
    if named := os.environ.get("CLEW_TEST_POSTGRES"):
        yield named
        asyncio.run(_clear(named))
        return
    with a_server() as server:
        yield server.dsn


def a_name(what: str = "") -> str:
    """A new name for a schema or a role on that server."""
    return f"{_OURS}_{what}{uuid4().hex[:16]}"


def in_schema(dsn: str, schema: str | None = None, **options: object) -> str:
    """The storage URL of a schema in that database; of a new one when none is named."""
    given: dict[str, object] = {"schema": schema or a_name(), **options}
    mark = "&" if "?" in dsn else "?"
    return dsn + mark + "&".join(f"{name}={value}" for name, value in given.items())


async def _clear(dsn: str) -> None:
    """Take away what this process has made, a schema at a time: a server has no room for the locks of many."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("SET client_min_messages = warning")
        for table, column, drop in (
            ("pg_namespace", "nspname", "DROP SCHEMA {} CASCADE"),
            ("pg_roles", "rolname", "DROP ROLE {}"),
        ):
            rows = await connection.fetch(f"SELECT {column} FROM {table} WHERE starts_with({column}, $1)", _OURS)
            for (name,) in rows:
                await connection.execute(drop.format(name))
    finally:
        await connection.close()
