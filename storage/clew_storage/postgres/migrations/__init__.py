"""The numbered steps that bring a schema from one format to the next. A published step is never changed."""

from __future__ import annotations

import asyncio
import hashlib
import time

import asyncpg

from clew_storage.errors import StorageRefused, StorageUnavailable
from clew_storage.numbered_migrations import Migration, migrations_of, refuse_unknown
from clew_storage.postgres.schemas import Schema
from clew_storage.records import FormatChange

# Whoever waits longer for another server's migration, or for a table that others do not let go, is told so.
_WAIT_S = 30
# How long a step stands in line for a table: so long everybody else waits behind it. How long it then leaves to others.
_IN_LINE_S, _PAUSE_S = 0.2, 0.5
# A step takes as long as it takes, whatever a command may take elsewhere: a week is no limit, and the driver takes none for its own.
_ENDLESS_S = 7 * 86_400


def known_migrations() -> tuple[Migration, ...]:
    """Every step, in order."""
    return migrations_of(__name__)


async def stored_format(connection: asyncpg.Connection[asyncpg.Record], schema: Schema) -> int:
    """The format of a schema, 0 where there is none or an empty one. Raises `StorageRefused` for one of something else."""
    tables = {
        row["relname"]
        for row in await connection.fetch(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v')",
            schema.name,
        )
    }
    if not tables:
        return 0
    if not {"formats", "threads"} <= tables:
        raise StorageRefused(f"the schema {schema.name} is not one of Clew's; name another one: ?schema=NAME")
    version = await connection.fetchval(schema.sql("SELECT max(version) FROM clew.formats"))
    return int(version)


def refuse_newer(version: int) -> None:
    """Raise `StorageRefused` for a format that this program does not know."""
    refuse_unknown(version, known_migrations())


async def migrate(
    connection: asyncpg.Connection[asyncpg.Record],
    schema: Schema,
    *,
    upto: int | None = None,
    wait_s: float | None = None,
) -> FormatChange:
    """Take the steps that the schema lacks, a transaction each; `upto` stops early, as an older program would.

    A schema that lacks none is only read, so that a role without the right to make tables can serve it. Of several that
    migrate at once one does, and the others wait for it. A table that others use is asked for again and again, for a moment each, so that
    servers that are up go on. Both waits together last `wait_s` seconds at most (None: 30).
    """
    until = time.monotonic() + (_WAIT_S if wait_s is None else wait_s)
    before = current = await stored_format(connection, schema)
    refuse_newer(before)
    has_taken = False
    for step in known_migrations():
        if step.version > current and (upto is None or step.version <= upto):
            found = await _take(connection, schema, step, until)
            # What others did while this one waited is not its own doing.
            before = before if has_taken else found
            has_taken = has_taken or found < step.version
            current = max(found, step.version)
    return FormatChange(before, current)


async def _take(connection: asyncpg.Connection[asyncpg.Record], schema: Schema, step: Migration, until: float) -> int:
    """Take a step, unless another has meanwhile; the format that was found when nobody else migrated."""
    while True:
        try:
            async with connection.transaction():
                found = await _format_alone(connection, schema, until)
                if found < step.version:
                    await connection.execute(
                        f"SET LOCAL lock_timeout = {int(_IN_LINE_S * 1000)}; SET LOCAL statement_timeout = 0"
                    )
                    await _change(connection, schema, step)
        except asyncpg.LockNotAvailableError as error:
            if time.monotonic() >= until:
                raise StorageUnavailable(
                    f"the schema {schema.name} could not be brought to format {step.version}: another session did not let go of one of its "
                    "tables in time (a long transaction, a dump; see pg_locks); when that has ended, try again. Nothing was changed by this step"
                ) from error
        except asyncpg.InsufficientPrivilegeError as error:
            if step.version == 1:
                raise
            raise StorageRefused(
                f"the schema {schema.name} lacks format {step.version}, and this role may not change it ({error}); migrate it first with the role "
                "that owns it: clew migrate"
            ) from error
        else:
            return found
        await asyncio.sleep(_PAUSE_S)


async def _format_alone(connection: asyncpg.Connection[asyncpg.Record], schema: Schema, until: float) -> int:
    """The format when nobody else migrates; nobody does until the transaction ends."""
    # So it also works where a pooler hands the connection on after each transaction.
    left_s = max(0.001, until - time.monotonic())
    await connection.execute(f"SET LOCAL lock_timeout = {int(left_s * 1000)}; SET LOCAL statement_timeout = 0")
    try:
        # The database ends the wait; the driver only where nothing comes of it.
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _lock_number(schema), timeout=left_s + _WAIT_S)
    except asyncpg.LockNotAvailableError as error:
        raise StorageUnavailable(
            f"another session migrates the schema {schema.name} and is not done; wait for it, then try again"
        ) from error
    current = await stored_format(connection, schema)
    refuse_newer(current)
    return current


async def _change(connection: asyncpg.Connection[asyncpg.Record], schema: Schema, step: Migration) -> None:
    if step.version == 1:
        if not await connection.fetchval("SELECT true FROM pg_catalog.pg_namespace WHERE nspname = $1", schema.name):
            await connection.execute(schema.sql("CREATE SCHEMA clew"))
        await connection.execute(
            schema.sql(
                "CREATE TABLE clew.formats (version integer PRIMARY KEY, name text NOT NULL, "
                "taken_at timestamptz NOT NULL DEFAULT clock_timestamp())"
            )
        )
    await connection.execute(schema.sql(step.sql), timeout=_ENDLESS_S)
    await connection.execute(
        schema.sql("INSERT INTO clew.formats (version, name) VALUES ($1, $2)"), step.version, step.name
    )


def _lock_number(schema: Schema) -> int:
    digest = hashlib.blake2b(f"clew migrations {schema.name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
