"""Large states in Redis: they come from there while they are the head's, and never otherwise."""

from __future__ import annotations

import asyncio
import random
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from clew_storage import Backend, IdleFilter, KeptState, RedisSettings, StateChange, open_redis, open_storage
from clew_storage.conformance.examples import KEY, NOW, UID, a_grant, a_write, fork
from tests.support.postgres import a_name, in_schema
from tests.support.redis import KeptRedis, as_shared
from tests.support.waiting import until

READS = 40
LARGE = {"text": b'"' + b"x" * 40_000 + b'"'}
ELSEWHERE = {"text": b'"as it is in Redis"'}


@dataclass
class Stored:
    """A backend beside Redis, and what is in Redis of the one thread."""

    backend: Backend
    beside: Any
    settings: RedisSettings

    async def write(self, version: int, state: dict[str, bytes] | None = None, **changes: Any) -> None:
        """Write a version, with a state if there is one."""
        grant = await a_grant(self.backend)
        change = None if state is None else StateChange(replaced=state)
        await self.backend.threads.append(a_write(grant, version, state=change, **changes))
        await self.backend.leases.release(grant)

    async def read(self, version: int | None = None) -> dict[str, bytes] | None:
        """The state as the port gives it."""
        return await self.backend.threads.get_state(KEY, version=version)

    async def kept(self) -> KeptState | None:
        """What is kept."""
        found: KeptState | None = await self.beside.states.recall(KEY)
        return found

    async def keep(self, uid: str, version: int, values: dict[str, bytes]) -> None:
        """Put something there, as a server would that read it."""
        await self.beside.states.keep(KEY, KeptState(uid, await self.epoch(), version, values))

    async def epoch(self) -> int:
        """The thread's."""
        return (await self.backend.threads.glance([KEY]))[KEY].epoch


@pytest.fixture
async def make_stored() -> AsyncIterator[Callable[..., Any]]:
    """Opens a database in memory beside a Redis."""
    opened: list[Backend] = []

    async def make(url: str, **settings: Any) -> Stored:
        told = RedisSettings(url, **{"prefix": uuid4().hex, "patience": 10.0, **settings})
        beside = open_redis(told)
        backend = beside.around(as_shared("memory://"))
        await backend.open()
        opened.append(backend)
        return Stored(backend, beside, told)

    yield make
    for backend in opened:
        await backend.close()


@pytest.fixture
async def stored(make_stored: Callable[..., Any], redis_url: str) -> Stored:
    """On the Redis that the tests share."""
    found: Stored = await make_stored(redis_url)
    return found


async def test_a_large_state_that_was_read_comes_from_redis_while_it_is_the_heads(stored: Stored) -> None:
    await stored.write(1, LARGE)
    assert await stored.read() == LARGE
    assert await stored.kept() == KeptState(UID, await stored.epoch(), 1, LARGE)
    await stored.keep(UID, 1, ELSEWHERE)
    assert [await stored.read(), await stored.read(1)] == [ELSEWHERE, ELSEWHERE]


async def test_of_a_database_that_a_process_has_for_itself_no_state_is_kept(redis_url: str) -> None:
    beside = open_redis(RedisSettings(redis_url, prefix=uuid4().hex))
    async with opened(beside.around(open_storage("memory://"))) as backend:
        await backend.threads.append(a_write(await a_grant(backend), 1, state=StateChange(replaced=LARGE)))
        assert await backend.threads.get_state(KEY, version=None) == LARGE
        assert await beside.states.recall(KEY) is None


async def test_a_small_state_is_not_kept(stored: Stored) -> None:
    await stored.write(1, {"text": b'"small"'})
    assert await stored.read() == {"text": b'"small"'}
    assert await stored.kept() is None


async def test_of_a_thread_that_was_deleted_it_is_not_taken_when_an_archive_brings_its_uid_and_version_back(
    stored: Stored,
) -> None:
    await stored.write(1, LARGE)
    parts = [part async for part in stored.backend.archive.export_thread(KEY)]
    await stored.write(2, {"text": ELSEWHERE["text"]})
    await stored.keep(UID, 2, ELSEWHERE)
    kept = await stored.kept()
    assert kept is not None
    await stored.backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
    await stored.backend.archive.import_thread(parts)
    await stored.write(2)
    # As where Redis was away when the thread was deleted.
    await stored.beside.states.keep(KEY, kept)
    assert await stored.read() == LARGE


async def test_of_another_version_than_the_heads_it_is_not_taken(stored: Stored) -> None:
    await stored.write(1, LARGE)
    await stored.write(2, {"more": b"1"})
    for version in (1, 3):
        await stored.keep(UID, version, ELSEWHERE)
        assert await stored.read() == {**LARGE, "more": b"1"}
    await stored.keep(UID, 2, ELSEWHERE)
    assert await stored.read(1) == LARGE, "an older version is read from the database"


async def test_of_another_incarnation_it_is_not_taken(stored: Stored) -> None:
    await stored.write(1, LARGE)
    await stored.keep("uid-of-another", 1, ELSEWHERE)
    assert await stored.read() == LARGE


async def test_a_write_of_state_a_rewind_and_a_delete_erase_what_is_kept(stored: Stored) -> None:
    async def kept_then(change: Callable[[], Any]) -> None:
        assert await stored.read() == LARGE
        assert await stored.kept() is not None
        await change()
        assert await stored.kept() is None
        await stored.beside.states.close()
        assert await stored.kept() is None

    async def rewind() -> None:
        grant = await a_grant(stored.backend)
        await fork(stored.backend, grant, 3, 1)
        await stored.backend.leases.release(grant)

    async def delete() -> None:
        await stored.backend.threads.delete_thread(KEY, request=None, now_ms=NOW)

    await stored.write(1, LARGE)
    await kept_then(lambda: stored.write(2, LARGE))
    await kept_then(rewind)
    await kept_then(delete)


async def test_what_retention_deletes_is_erased_too(stored: Stored) -> None:
    await stored.write(1, LARGE)
    assert await stored.read() == LARGE
    retention = stored.backend.retention
    idle = await retention.list_idle(IdleFilter(), after=None, limit=1)
    assert await retention.delete_idle(idle, now_ms=NOW) == [KEY]
    await stored.beside.states.close()
    assert await stored.kept() is None


async def test_nothing_of_a_deleted_thread_is_read(stored: Stored) -> None:
    await stored.write(1, LARGE)
    await stored.backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
    await stored.beside.states.close()
    await stored.keep(UID, 1, LARGE)
    assert await stored.read() is None
    await stored.write(1, {"text": b'"new"'}, uid="uid-2")
    await stored.keep(UID, 1, LARGE)
    assert await stored.read() == {"text": b'"new"'}


async def test_what_is_kept_is_gone_after_its_time(make_stored: Callable[..., Any], kept_redis: KeptRedis) -> None:
    stored = await make_stored(kept_redis.url, cache_ttl=5.0)
    await stored.write(1, LARGE)
    await stored.read()
    with kept_redis.client() as redis:
        names: Any = redis.keys("*")
        (name,) = names
        assert 0 < redis.pttl(name) <= 5000
        assert name.decode() == f"{stored.settings.prefix}:state/acme/thread-1"


async def test_a_redis_that_is_away_costs_no_read(make_stored: Callable[..., Any], kept_redis: KeptRedis) -> None:
    stored = await make_stored(kept_redis.url, patience=0.25)
    await stored.write(1, LARGE)
    await stored.read()
    for away in (kept_redis.pause, kept_redis.kill):
        away()
        for _ in range(3):
            assert await stored.read() == LARGE
    await stored.write(2, {"more": b"1"})
    kept_redis.start()
    await until(lambda: stored.beside.is_up)
    assert await stored.read() == {**LARGE, "more": b"1"}
    assert (await stored.kept()) == KeptState(UID, await stored.epoch(), 2, {**LARGE, "more": b"1"})


async def test_what_another_release_kept_is_passed_over(stored: Stored) -> None:
    await stored.write(1, LARGE)
    states = stored.beside.states
    for strange in (b'[2,"uid-1",1,[]]\n', b"", b"no JSON\n", b"{}\n", b"[]"):
        await stored.beside.link.client.set(states._name(KEY), strange)
        assert await stored.kept() is None
        assert await stored.read() == LARGE


async def test_a_state_of_512_kib_costs_the_database_little_when_redis_has_it(
    postgres_dsn: str, redis_url: str
) -> None:
    schema = a_name()
    url = in_schema(postgres_dsn, schema)
    # Text that hardly compresses, as it would be in pages of its own.
    state = {f"key-{number}": b'"%b"' % b64encode(random.Random(number).randbytes(12_286)) for number in range(32)}
    settings = RedisSettings(redis_url, prefix=uuid4().hex, patience=10.0)
    async with opened(open_storage(url)) as backend:
        grant = await a_grant(backend)
        for version, (key, value) in enumerate(state.items(), 1):
            await backend.threads.append(a_write(grant, version, state=StateChange(replaced={key: value})))
    async with opened(open_redis(settings).around(open_storage(url))) as backend:
        await backend.threads.get_state(KEY, version=32)
    figures: dict[str, tuple[float, int]] = {}
    for name, backend in (
        ("without Redis", open_storage(url)),
        ("with it", open_redis(settings).around(open_storage(url))),
    ):
        before, times = await pages(postgres_dsn, schema), list[float]()
        async with opened(backend):
            for _ in range(READS):
                began = time.perf_counter()
                assert await backend.threads.get_state(KEY, version=32) == state
                times.append((time.perf_counter() - began) * 1000)
        figures[name] = median(times), (await pages(postgres_dsn, schema) - before) // READS
    for name, (milliseconds, touched) in figures.items():
        print(f"a state of 512 KiB {name}: {milliseconds:.1f} ms, {touched} pages of the database")
    assert figures["with it"][1] * 5 < figures["without Redis"][1]


@asynccontextmanager
async def opened(backend: Backend) -> AsyncIterator[Backend]:
    """Open, and closed at the end."""
    await backend.open()
    try:
        yield backend
    finally:
        await backend.close()


async def pages(dsn: str, schema: str) -> int:
    """How many pages of its tables a schema has had read, in sessions that are over."""
    connection = await asyncpg.connect(dsn)
    try:
        # A session tells what it has read when it ends.
        while await connection.fetchval(  # noqa: ASYNC110 - nobody is told
            "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%' || $1::text || '%'",
            schema,
        ):
            await asyncio.sleep(0.01)
        found: int = await connection.fetchval(
            "SELECT sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)"
            " + coalesce(toast_blks_hit, 0) + coalesce(toast_blks_read, 0) + coalesce(tidx_blks_hit, 0) + coalesce(tidx_blks_read, 0))::bigint"
            " FROM pg_statio_user_tables WHERE schemaname = $1",
            schema,
        )
        return found
    finally:
        await connection.close()
