"""Formats: a new schema and one brought up step by step are the same in the end, whoever else migrates."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from clew_storage import StorageRefused, StorageUnavailable, ThreadFilter, open_storage
from clew_storage.conformance.examples import a_grant, a_line
from clew_storage.numbered_migrations import Migration
from clew_storage.postgres import PostgresBackend, migrations
from clew_storage.postgres.migrations import known_migrations, migrate, stored_format
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from tests.support.postgres import a_name, a_server, in_schema, some_dsn

_ANY = ThreadFilter()
NEWEST = known_migrations()[-1].version


@pytest.fixture
async def connection(postgres_dsn: str) -> AsyncIterator[Connection]:
    opened = await asyncpg.connect(postgres_dsn)
    yield opened
    await opened.close()


@pytest.fixture
def schema() -> Schema:
    return Schema(a_name())


async def contents(connection: Connection, schema: Schema) -> list[str]:
    """Columns, indexes and functions of a schema, without its name."""
    rows = await connection.fetch(
        "SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = $1 "
        "UNION SELECT indexdef FROM pg_indexes WHERE schemaname = $1 "
        "UNION SELECT pg_get_functiondef(p.oid) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
        "WHERE n.nspname = $1 ORDER BY 1",
        schema.name,
    )
    return [row[0].replace(schema.name, "clew") for row in rows]


async def fresh(connection: Connection) -> list[str]:
    schema = Schema(a_name())
    await migrate(connection, schema)
    return await contents(connection, schema)


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert [step.version for step in known_migrations()] == list(range(1, NEWEST + 1))


@pytest.mark.parametrize("older", range(1, NEWEST))
async def test_a_schema_of_an_older_format_ends_as_a_new_one_does(
    connection: Connection, schema: Schema, older: int
) -> None:
    await migrate(connection, schema, upto=older)
    assert await stored_format(connection, schema) == older
    await migrate(connection, schema)
    assert await contents(connection, schema) == await fresh(connection)


async def test_a_step_that_breaks_off_is_taken_again_from_its_start(
    connection: Connection, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = known_migrations()
    broken = Migration(2, "broken", f"{second.sql}\nCREATE TABLE clew.threads (again integer);")
    monkeypatch.setattr(migrations, "known_migrations", lambda: (first, broken))
    with pytest.raises(asyncpg.DuplicateTableError):
        await migrate(connection, schema)
    assert await stored_format(connection, schema) == 1
    monkeypatch.undo()
    await migrate(connection, schema)
    assert await contents(connection, schema) == await fresh(connection)


async def test_servers_that_start_together_migrate_once(postgres_dsn: str) -> None:
    url = in_schema(postgres_dsn)
    backends = [open_storage(url) for _ in range(5)]
    changes = await asyncio.gather(*(backend.open() for backend in backends))
    # Who waited tells what there was when its turn came.
    assert [change.before for change in changes].count(0) == 1
    assert {change.now for change in changes} == {NEWEST}
    await a_line(backends[0], 1)
    await asyncio.gather(*(backend.close() for backend in backends))


async def test_whoever_waits_too_long_for_another_migration_is_told(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    other = await asyncpg.connect(postgres_dsn)
    async with other.transaction():
        await other.execute("SELECT pg_advisory_xact_lock($1)", migrations._lock_number(schema))
        with pytest.raises(StorageUnavailable, match="another session migrates the schema"):
            await migrate(connection, schema, wait_s=0.05)
    await other.close()
    await migrate(connection, schema)


async def test_a_migration_waits_for_another_and_a_step_goes_on_for_longer_than_a_command_may_take(
    schema: Schema, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = known_migrations()
    long = Migration(2, "long", "SELECT pg_sleep(1.5);")
    monkeypatch.setattr(migrations, "known_migrations", lambda: (first, long))
    other = await asyncpg.connect(postgres_dsn)
    hasty = await asyncpg.connect(
        postgres_dsn, command_timeout=0.5, server_settings={"statement_timeout": "700ms", "lock_timeout": "700ms"}
    )
    async with other.transaction():
        await other.execute("SELECT pg_advisory_xact_lock($1)", migrations._lock_number(schema))
        migrating = asyncio.create_task(migrate(hasty, schema, wait_s=30))
        await asyncio.wait((migrating,), timeout=1.5)
        assert not migrating.done()
    assert (await migrating).now == 2
    await hasty.close()
    await other.close()


async def test_a_step_that_waits_for_a_table_lets_others_go_before(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    """A long reader is there when the columns of a step are to be added; servers go on meanwhile."""
    await migrate(connection, schema, upto=5)
    reader, server = await asyncpg.connect(postgres_dsn), await asyncpg.connect(postgres_dsn)
    # As a server's statements have it.
    await server.execute("SET lock_timeout = '5s'")
    count = schema.sql("SELECT count(*) FROM clew.threads")
    async with reader.transaction():
        await reader.execute(count)
        waiting = asyncio.create_task(migrate(connection, schema, wait_s=30))
        await stands_in_line(server)
        for _ in range(20):
            await server.execute(count)
        assert not waiting.done()
    assert (await waiting).now == NEWEST
    await asyncio.gather(reader.close(), server.close())


async def stands_in_line(connection: Connection) -> None:
    """Wait until a session waits for a table."""
    async with asyncio.timeout(30):
        while not await connection.fetchval("SELECT true FROM pg_locks WHERE NOT granted AND locktype = 'relation'"):
            pass


async def test_a_table_that_is_not_let_go_in_time_is_told_and_nothing_is_changed(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    await migrate(connection, schema, upto=5)
    reader = await asyncpg.connect(postgres_dsn)
    async with reader.transaction():
        await reader.execute(schema.sql("SELECT count(*) FROM clew.threads"))
        with pytest.raises(
            StorageUnavailable, match="brought to format 6: another session did not let go of one of its tables"
        ):
            await migrate(connection, schema, wait_s=0)
        assert await stored_format(connection, schema) == 5
    await reader.close()
    assert (await migrate(connection, schema)).before == 5


async def test_a_role_that_may_not_migrate_is_told_who_may(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    await migrate(connection, schema, upto=NEWEST - 1)
    role = a_name("runtime_")
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema.name} TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema.name} TO {role}",
    ):
        await connection.execute(statement)
    backend = PostgresBackend.of_url(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"), schema.name))
    with pytest.raises(
        StorageRefused, match=f"lacks format {NEWEST}, and this role may not .* role that owns it: clew migrate"
    ):
        await backend.open()


@pytest.mark.parametrize("word", ["user", "order", "trim"])
async def test_a_word_of_sql_is_a_name_for_a_schema_like_any_other(
    connection: Connection, postgres_dsn: str, word: str
) -> None:
    backend = open_storage(in_schema(postgres_dsn, word))
    try:
        await backend.open()
        await backend.leases.release(await a_line(backend, 3))
        await backend.threads.forget_requests(before_ms=2**40)
        assert (await backend.sizes.stats(largest=1)).threads == 1
        await backend.close()
    finally:
        await connection.execute(f'DROP SCHEMA IF EXISTS "{word}" CASCADE')


async def test_a_role_that_may_make_no_schema_is_told_which_right_it_lacks(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    role = a_name("guest_")
    await connection.execute(f"CREATE ROLE {role} LOGIN")
    with pytest.raises(StorageRefused, match="grant the role CREATE on the database, or have the schema made for it"):
        await open_storage(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"), schema.name)).open()


@pytest.mark.parametrize("rights", ["", "USAGE, CREATE"])
async def test_a_role_without_rights_in_the_schema_is_told_which_role_does_what(
    connection: Connection, schema: Schema, postgres_dsn: str, rights: str
) -> None:
    role = a_name("guest_")
    await migrate(connection, schema)
    await connection.execute(f"CREATE ROLE {role} LOGIN")
    if rights:
        await connection.execute(f"GRANT {rights} ON SCHEMA {schema.name} TO {role}")
    with pytest.raises(StorageRefused, match="to migrate, use the role that owns the schema"):
        await open_storage(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"), schema.name)).open()


async def test_the_role_that_migrates_needs_no_more_than_the_docs_say(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    role, other = a_name("owner_"), a_name("runtime_")
    text = (Path(__file__).parents[2] / "docs/postgres.md").read_text()
    (statements,) = re.findall(r"```sql\n(CREATE ROLE clew_owner.*?)```", text, re.DOTALL)
    named = statements.replace("clew_owner", role).replace("clew_runtime", other)
    await connection.execute(named.replace("SCHEMA clew", f"SCHEMA {schema.name}"))
    backend = open_storage(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"), schema.name))
    await backend.open()
    await backend.leases.release(await a_line(backend, 3))
    await backend.close()


async def test_a_role_that_is_not_there_has_to_be_made(postgres_dsn: str) -> None:
    with pytest.raises(StorageRefused, match="create the role"):
        await open_storage(in_schema(postgres_dsn.replace("//clew@", f"//{a_name('nobody_')}@"))).open()


async def test_a_server_without_tls_is_told_from_one_that_is_away(postgres_dsn: str) -> None:
    with pytest.raises(StorageRefused, match="has no TLS"):
        await open_storage(in_schema(postgres_dsn, sslmode="require")).open()


async def test_a_newer_format_is_refused_and_left_as_it_is(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    await migrate(connection, schema)
    await connection.execute(schema.sql("INSERT INTO clew.formats (version, name) VALUES ($1, 'later')"), NEWEST + 1)
    before = await contents(connection, schema), await connection.fetch(schema.sql("SELECT * FROM clew.formats"))
    with pytest.raises(StorageRefused, match=f"knows formats up to {NEWEST}"):
        await migrate(connection, schema)
    with pytest.raises(StorageRefused, match="use the newer version of Clew"):
        await open_storage(in_schema(postgres_dsn, schema.name)).open()
    after = await contents(connection, schema), await connection.fetch(schema.sql("SELECT * FROM clew.formats"))
    assert after == before


async def test_a_schema_of_something_else_is_refused(connection: Connection, schema: Schema) -> None:
    await connection.execute(schema.sql("CREATE SCHEMA clew"))
    await connection.execute(schema.sql("CREATE TABLE clew.invoices (id integer)"))
    with pytest.raises(StorageRefused, match="not one of Clew's"):
        await migrate(connection, schema)


async def test_without_the_right_to_migrate_a_schema_must_be_there(
    connection: Connection, schema: Schema, postgres_dsn: str
) -> None:
    url = in_schema(postgres_dsn, schema.name, migrate=0)
    with pytest.raises(StorageRefused, match="migrate it first"):
        await open_storage(url).open()
    await migrate(connection, schema)
    backend = open_storage(url)
    await backend.open()
    await a_line(backend, 1)
    await backend.close()


@pytest.mark.parametrize("made", [1, NEWEST])
async def test_a_role_with_the_least_rights_serves_what_another_has_made(
    connection: Connection, schema: Schema, postgres_dsn: str, made: int
) -> None:
    await migrate(connection, schema, upto=made)
    role = a_name("runtime_")
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA clew TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA clew TO {role}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA clew TO {role}",
        f"REVOKE INSERT, UPDATE, DELETE ON clew.formats FROM {role}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA clew GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA clew GRANT USAGE ON SEQUENCES TO {role}",
    ):
        await connection.execute(schema.sql(statement).replace("SCHEMA clew", f"SCHEMA {schema.name}"))
    await migrate(connection, schema)
    backend = PostgresBackend.of_url(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"), schema.name))
    await backend.open()
    await backend.leases.release(await a_line(backend, 3))
    await backend.check()
    # As after a full disk, when a check has to write.
    backend._opened().writer.full = True
    await backend.check()
    await backend.close()


async def test_two_schemas_of_one_database_know_nothing_of_each_other(postgres_dsn: str) -> None:
    pair = [open_storage(in_schema(postgres_dsn)) for _ in range(2)]
    for backend in pair:
        await backend.open()
    await a_line(pair[0], 2)
    await a_grant(pair[1])
    assert await pair[1].threads.list_threads("acme", _ANY, by_update=False, after=None, limit=9) == []
    for backend in pair:
        await backend.close()


async def test_a_database_that_does_not_wait_for_the_disk_is_refused(postgres_dsn: str, connection: Connection) -> None:
    role = a_name("hasty_")
    await connection.execute(f"CREATE ROLE {role} LOGIN SUPERUSER")
    await connection.execute(f"ALTER ROLE {role} SET synchronous_commit = off")
    with pytest.raises(StorageRefused, match="synchronous_commit is off"):
        await open_storage(in_schema(postgres_dsn.replace("//clew@", f"//{role}@"))).open()


@pytest.mark.parametrize(
    ("there", "elsewhere", "error", "says"),
    [
        ("/postgres", "/nowhere", StorageRefused, 'database "nowhere" does not exist'),
        ("//clew@", "//nobody@", StorageRefused, "nobody"),
        ("127.0.0.1:", "127.0.0.1:1", StorageUnavailable, "cannot be reached"),
    ],
)
async def test_a_database_that_cannot_be_reached_is_told_with_what_to_do(
    postgres_dsn: str, there: str, elsewhere: str, error: type[Exception], says: str
) -> None:
    url = postgres_dsn.replace(there, elsewhere)
    if elsewhere.endswith(":1"):
        url = f"postgresql://clew@127.0.0.1:1/{url.rpartition('/')[2]}"
    with pytest.raises(error, match=says):
        await open_storage(in_schema(url)).open()


async def test_a_server_that_is_named_for_the_tests_is_left_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def work_on_it() -> list[str]:
        """In a thread, for it clears up with an event loop of its own."""
        with some_dsn() as dsn:
            asyncio.run(open_storage(in_schema(dsn)).open())
        return asyncio.run(schemas(dsn))

    async def schemas(dsn: str) -> list[str]:
        connection = await asyncpg.connect(dsn)
        rows = await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'test%'")
        await connection.close()
        return [row[0] for row in rows]

    with a_server() as server:
        monkeypatch.setenv("CLEW_TEST_POSTGRES", server.dsn)
        assert await asyncio.to_thread(work_on_it) == []
