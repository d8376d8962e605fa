"""One SQLite connection on a thread of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast
from urllib.parse import quote

import aiosqlite

from clew_storage.errors import StorageUnavailable
from clew_storage.sqlite.logs import StandingFile
from clew_storage.thread_filters import metadata_has, text_found

T = TypeVar("T")
Synchronous = Literal["FULL", "NORMAL", "OFF"]


@dataclass(frozen=True, slots=True)
class Pragmas:
    """How a connection is set up."""

    synchronous: Synchronous = "FULL"
    read_only: bool = False
    standing: StandingFile | None = None


class Connection:
    """Runs functions on the thread that owns the connection."""

    def __init__(self, connection: aiosqlite.Connection, standing: StandingFile | None = None) -> None:
        self._connection = connection
        self._standing = standing
        self._open = True

    @classmethod
    async def open(cls, path: Path | None, pragmas: Pragmas) -> Connection:
        """Connect to an existing file, or to a new database in memory."""
        mode = "ro" if pragmas.read_only else "rw"
        how = f"mode={mode}&immutable=1" if pragmas.standing else f"mode={mode}"
        name = ":memory:" if path is None else f"file:{quote(str(path))}?{how}"
        # Without an isolation level the module leaves transactions to us.
        connecting = aiosqlite.connect(name, uri=True, isolation_level=None, cached_statements=256)
        # A script that never closes its storage must still end; what was acknowledged is on the disk by then.
        connecting._thread.daemon = True  # noqa: SLF001
        opened = cls(await connecting, pragmas.standing)
        try:
            await opened.run(lambda connection: _set_up(connection, pragmas))
        except BaseException:
            await opened.close()
            raise
        return opened

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one hop. It runs to its end even when the caller is cancelled."""
        if not self._open:
            raise StorageUnavailable("the storage is not open")
        # aiosqlite has no public call for a function of one's own, and one hop a statement costs ten times as much.
        try:
            result = await self._connection._execute(work, self._connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
        finally:
            # Also of damage that is none: pages that another process wrote amid the read.
            if self._standing is not None:
                self._standing.check()
        return cast("T", result)

    async def close(self) -> None:
        """Close after what is queued. Harmless when called twice."""
        self._open = False
        await self._connection.close()


def _set_up(connection: sqlite3.Connection, pragmas: Pragmas) -> None:
    connection.create_function("metadata_has", 2, metadata_has, deterministic=True)
    connection.create_function("text_found", 3, text_found, deterministic=True)
    connection.execute("PRAGMA busy_timeout = 5000")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -8000")
    connection.execute("PRAGMA trusted_schema = OFF")
    if pragmas.read_only:
        connection.execute("PRAGMA query_only = ON")
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {pragmas.synchronous}")
    # Where a plain fsync does not reach the platter (macOS), ask for the one that does.
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    connection.execute("PRAGMA secure_delete = FAST")
    connection.execute("PRAGMA journal_size_limit = 4194304")
