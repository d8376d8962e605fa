"""An open database: its connections from the first to the last."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from clew_storage.errors import StorageRefused, StorageUnavailable
from clew_storage.local_leases import READS_ONLY
from clew_storage.records import FormatChange
from clew_storage.sqlite.connections import Connection, Pragmas, Synchronous
from clew_storage.sqlite.database_files import create_file, has_room
from clew_storage.sqlite.failures import translate
from clew_storage.sqlite.file_formats import check_format, look_at_format
from clew_storage.sqlite.group_commit import GroupCommit, Refusing
from clew_storage.sqlite.logs import StandingFile, leave_nothing, refuse_unreadable_log
from clew_storage.sqlite.migrations import known_migrations, migrate
from clew_storage.sqlite.ownership import Ownership
from clew_storage.sqlite.readers import Readers

_READING = Pragmas(read_only=True)


class Session:
    """The writer, the readers and what must be given back at the end."""

    def __init__(
        self,
        path: Path | None,
        writer: GroupCommit | Refusing,
        readers: Readers,
        generation: int,
        change: FormatChange,
        stack: AsyncExitStack,
        reading: Pragmas = _READING,
    ) -> None:
        self.writer = writer
        self.readers = readers
        self.generation = generation
        self.change = change
        self._path = path
        self._reading = reading
        self._idle: list[Connection] = []
        self._stack = stack

    @classmethod
    async def open_for_writing(cls, path: Path | None, synchronous: Synchronous) -> Session:
        """Own the file (None: a database in memory), bring its format up to date and begin a generation of epochs."""
        async with AsyncExitStack() as stack:
            if path is not None:
                _look(path)
                stack.callback(Ownership.take(path).release)
                # Another may have had it since: only what the owner sees counts.
                check_format(path, read_only=False)
                create_file(path)
            try:
                connection = await Connection.open(path, Pragmas(synchronous))
                stack.push_async_callback(connection.close)
                change, generation = await connection.run(_begin)
                readers = Readers(connection) if path is None else await _open_readers(path, _READING, stack)
            except sqlite3.Error as error:
                raise translate(error) from error
            writer = GroupCommit(connection, lambda: path is None or has_room(path))
            stack.push_async_callback(writer.close)
            return cls(path, writer, readers, generation, change, stack.pop_all())
        raise AssertionError

    @classmethod
    async def open_for_reading(cls, path: Path) -> Session:
        """Read a file that this process does not own."""
        look_at_format(path, read_only=True)
        refuse_unreadable_log(path)
        check_format(path, read_only=True)
        reading = Pragmas(read_only=True, standing=StandingFile.of(path))
        async with AsyncExitStack() as stack:
            if reading.standing is None:
                stack.callback(leave_nothing, path)
            try:
                readers = await _open_readers(path, reading, stack)
            except sqlite3.Error as error:
                raise translate(error) from error
            newest = known_migrations()[-1].version
            refusing = Refusing(StorageUnavailable(READS_ONLY))
            return cls(path, refusing, readers, 0, FormatChange(newest, newest), stack.pop_all(), reading)
        raise AssertionError

    @asynccontextmanager
    async def standing_still(self) -> AsyncGenerator[Connection | None, None]:
        """A connection on which nothing changes while it is lent; None for a database in memory, which has one connection."""
        if self._path is None:
            yield None
            return
        connection = self._idle.pop() if self._idle else await self._connect(self._path)
        try:
            await connection.run(lambda opened: opened.execute("BEGIN"))
            try:
                yield connection
            finally:
                await connection.run(lambda opened: opened.execute("ROLLBACK"))
                self._idle.append(connection)
        except sqlite3.Error as error:
            raise translate(error) from error

    async def _connect(self, path: Path) -> Connection:
        connection = await Connection.open(path, self._reading)
        self._stack.push_async_callback(connection.close)
        return connection

    def take_over(self) -> None:
        """Go on in the running event loop, after the one before is gone."""
        if isinstance(self.writer, GroupCommit):
            self.writer.take_over()

    async def close(self) -> None:
        """Finish what is queued, close the readers before the writer, and give the file up."""
        await self._stack.aclose()


async def _open_readers(path: Path, pragmas: Pragmas, stack: AsyncExitStack) -> Readers:
    connections = []
    for _ in range(2):
        connection = await Connection.open(path, pragmas)
        stack.push_async_callback(connection.close)
        connections.append(connection)
    return Readers(*connections)


def _look(path: Path) -> None:
    """See that the file may be ours before there is a lock file beside it. Of two reasons the owner's name says more."""
    try:
        look_at_format(path, read_only=False)
    except StorageRefused:
        Ownership.refuse_if_held(path)
        raise


def _begin(connection: sqlite3.Connection) -> tuple[FormatChange, int]:
    change = migrate(connection)
    if change.now > change.before:
        # From here on the file alone says what it is, also to those who may not touch its log.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE ownership SET generation = generation + 1")
    (generation,) = connection.execute("SELECT generation FROM ownership").fetchone()
    connection.execute("COMMIT")
    return change, int(generation)
