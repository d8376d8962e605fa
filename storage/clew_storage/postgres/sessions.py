"""An open storage: its connections, its writer and the keeper of its leases, from the first to the last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from asyncpg.exceptions import ClientConfigurationError

from clew_storage.errors import StorageRefused, StorageUnavailable
from clew_storage.postgres.connections import Connections, Pool
from clew_storage.postgres.failures import DRIVER_ERRORS, translate
from clew_storage.postgres.group_commit import GroupCommit
from clew_storage.postgres.hints import Hints
from clew_storage.postgres.keeper import LeaseKeeper
from clew_storage.postgres.lease_rows import LeaseRows
from clew_storage.postgres.leases import PostgresLeases
from clew_storage.postgres.migrations import known_migrations, migrate, refuse_newer, stored_format
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.settings import PostgresSettings
from clew_storage.records import FormatChange

T = TypeVar("T")
_OLDEST_SERVER = 150000
_ABOUT_THE_SERVER = """
SELECT current_setting('server_version_num')::integer, current_setting('server_encoding'), pg_is_in_recovery(),
    current_setting('synchronous_commit'), current_setting('synchronous_standby_names')
"""


class Session:
    """What an open storage is made of."""

    def __init__(self, connections: Connections, schema: Schema, change: FormatChange, stack: AsyncExitStack) -> None:
        self.connections = connections
        self.schema = schema
        self.change = change
        self._stack = stack
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = asyncio.Event()
        self._lifeline = asyncio.create_task(self._let_go_at_the_end(), name="clew-postgres-lifeline")

    writer: GroupCommit
    keeper: LeaseKeeper
    hints: Hints | None = None

    @classmethod
    async def open(
        cls,
        settings: PostgresSettings,
        schema: Schema,
        pool: Pool | None,
        leases: PostgresLeases,
        server: str,
        *,
        wait_s: float | None,
    ) -> Session:
        """Connect, see that the database is fit for it, bring the schema up to date, begin to write and to keep leases.

        `wait_s` as in the port's `Backend.open`.
        """
        async with AsyncExitStack() as stack:
            connections = Connections(settings, pool)
            try:
                await connections.open()
                stack.push_async_callback(connections.close)
                async with connections.lend() as connection:
                    await _check_server(connection)
                    change = await _bring_up_to_date(connection, schema, may_migrate=settings.migrate, wait_s=wait_s)
            except (ClientConfigurationError, ValueError) as error:
                raise StorageRefused(f"the URL of the database cannot be used: {error}") from error
            except DRIVER_ERRORS as error:
                raise translate(error) from error
            session = cls(connections, schema, change, stack)
            stack.push_async_callback(session._finish)
            session.writer = GroupCommit(connections, schema, server, settings.patience_s)
            rows = LeaseRows(schema, server, settings.lease_s)
            leases.open(connections, rows)
            session.keeper = LeaseKeeper(connections, rows, leases, settings.poll_s)
            stack.push_async_callback(leases.close)
            stack.push_async_callback(session.keeper.close)
            if settings.listen_dsn is not None:
                session.hints = Hints(settings.listen_dsn, server, session.keeper.hint, settings.connect_timeout_s)
                stack.push_async_callback(session.hints.close)
            # Writes end first: they are made under leases that are held until then.
            stack.push_async_callback(session.writer.close)
            session._stack = stack.pop_all()
            return session
        raise AssertionError

    async def read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run a query. What it finds in several statements is put together from rows that do not change."""
        return await self.connections.run(work)

    @asynccontextmanager
    async def standing_still(self) -> AsyncGenerator[Connection, None]:
        """A connection on which everything stays as it is at the first question; nobody waits for it."""
        try:
            async with (
                self.connections.lend() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                yield connection
        except DRIVER_ERRORS as error:
            raise translate(error) from error

    async def write(self, work: Callable[[Connection], Awaitable[T]], *, repeatable: bool = False) -> T:
        """Run one statement that writes. A caller that is cancelled gives up the answer and not the write."""
        return await self.carry_out(self.connections.run(work, repeatable=repeatable))

    async def carry_out(self, work: Coroutine[Any, Any, T]) -> T:
        """See something through, whether or not its caller stays."""
        if self._closing.is_set():
            work.close()
            raise StorageUnavailable("the storage is not open")
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def check(self) -> None:
        """Raise what a read or a write would raise now."""
        # After a full disk only a real write tells whether there is space again: one that any role may make.
        probe = "SELECT pg_logical_emit_message(true, 'clew', 'room')" if self.writer.full else "SELECT 1"
        if await self.read(lambda connection: connection.fetchval("SELECT pg_is_in_recovery()")):
            raise StorageUnavailable("the database is a standby and takes no writes; connect to the primary")
        await self.writer.check(probe)

    async def close(self) -> None:
        """Finish what was begun, then let go of the database."""
        await self._stack.aclose()

    async def _finish(self) -> None:
        self._closing.set()
        await asyncio.gather(*self._tasks, self._lifeline, return_exceptions=True)

    async def _let_go_at_the_end(self) -> None:
        """Where the event loop ends before the storage is closed, its connections end with it."""
        try:
            await self._closing.wait()
        except asyncio.CancelledError:
            self.connections.abandon()
            raise


async def _check_server(connection: Connection) -> None:
    row = await connection.fetchrow(_ABOUT_THE_SERVER)
    assert row is not None
    version, encoding, standby, synchronous, standbys = row
    if version < _OLDEST_SERVER:
        raise StorageRefused(f"the database is Postgres {version // 10000}; Clew needs 15 or newer")
    if encoding != "UTF8":
        raise StorageRefused(f"the database has the encoding {encoding}; make one with UTF8")
    if standby:
        raise StorageUnavailable("the database is a standby and takes no writes; connect to the primary")
    if synchronous == "off" or (standbys and synchronous not in {"on", "remote_apply"}):
        raise StorageRefused(
            f"synchronous_commit is {synchronous}, with which a crash or a failover loses what was acknowledged; set it to "
            "on for the role or the database"
        )


async def _bring_up_to_date(
    connection: Connection, schema: Schema, *, may_migrate: bool, wait_s: float | None
) -> FormatChange:
    if may_migrate:
        return await migrate(connection, schema, wait_s=wait_s)
    version = await stored_format(connection, schema)
    refuse_newer(version)
    if not version:
        raise StorageRefused(
            f'there is no schema "{schema.name}" in the database, or nothing in it; name another with ?schema=NAME, or, '
            "where it is to be made, migrate it first: clew migrate"
        )
    if version < known_migrations()[-1].version:
        raise StorageRefused(
            f"the schema {schema.name} has format {version} and needs {known_migrations()[-1].version}; migrate it first: clew migrate"
        )
    return FormatChange(version, version)
