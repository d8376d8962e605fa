"""A real Postgres for the tests: one from a wheel, started when first asked for, or the one that CLEW_TEST_POSTGRES names."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

_KEEPER = Path(__file__).parent / "postgres_keeper.py"
# Little memory, and no background work that would wake up in the middle of a count.
_OPTIONS = ("shared_buffers=32MB", "max_connections=200", "max_wal_size=512MB", "checkpoint_timeout=1h")


class KeptServer:
    """A server of the tests' own, which may be stopped, crashed and started again."""

    def __init__(self, *options: str) -> None:
        self._keeper = subprocess.Popen(
            [sys.executable, _KEEPER, *_OPTIONS, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C ends the tests, and their end ends the keeper.
            start_new_session=True,
        )
        port = self._answer()
        self.dsn = f"postgresql://clew@127.0.0.1:{port}/postgres"

    def tell(self, what: str) -> None:
        """`restart`, `crash`, `stop` or `start`; returns when it is done."""
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
    """A server of one's own; options as in postgresql.conf, `name=value`."""
    server = KeptServer(*options)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def some_dsn() -> Iterator[str]:
    """The DSN of a server that is shared with other tests."""
    if named := os.environ.get("CLEW_TEST_POSTGRES"):
        yield named
        return
    with a_server() as server:
        yield server.dsn


def in_schema(dsn: str, schema: str | None = None, **options: float) -> str:
    """The storage URL of a schema in that database; of a new one when none is named."""
    given: dict[str, object] = {"schema": schema or f"test_{uuid4().hex}", **options}
    mark = "&" if "?" in dsn else "?"
    return dsn + mark + "&".join(f"{name}={value}" for name, value in given.items())
