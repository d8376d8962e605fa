"""Threads on their way into Postgres and out of it: a little at a time, whatever is large in them."""

from __future__ import annotations

import pytest

from clew_storage import StateChange
from clew_storage.conformance.archive_promises import exported
from clew_storage.conformance.examples import KEY, NOW, a_grant, a_message, a_write
from clew_storage.conformance.sights import sights
from clew_storage.memory import MemoryBackend
from clew_storage.postgres import PostgresBackend, thread_exports, thread_imports
from clew_storage.postgres.thread_imports import batches_of
from tests.support.postgres import in_schema

_LARGE = 200_000


async def a_heavy_thread(backend: MemoryBackend | PostgresBackend, length: int = 12) -> None:
    """A thread of which every version says and keeps much."""
    grant = await a_grant(backend)
    for version in range(1, length + 1):
        state = StateChange(replaced={"much": b'"%s"' % (b"x" * _LARGE), "n": b"%d" % version})
        message = a_message(version, body=b'{"text":"%s"}' % (b"y" * _LARGE))
        await backend.threads.append(a_write(grant, version, state=state, messages=(message,)))


async def test_parts_go_in_batches_of_so_many_bytes() -> None:
    backend = MemoryBackend()
    await backend.open()
    await a_heavy_thread(backend)
    parts = await exported(backend)
    batches = list(batches_of(parts, rows=64, size=3 * _LARGE))
    assert [part for batch in batches for part in batch] == parts
    assert [len(batch) for batch in batches[:-1]] == [3, *[2] * (len(batches) - 2)]
    assert [len(batch) for batch in batches_of(parts, rows=5, size=1 << 30)] == [5, 5, 3]
    await backend.close()


async def test_a_heavy_thread_comes_out_of_postgres_a_little_at_a_time_and_goes_in_as_it_was(
    postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = PostgresBackend.of_url(in_schema(postgres_dsn))
    await backend.open()
    await a_heavy_thread(backend)
    before, parts = await sights(backend, KEY), await exported(backend)
    monkeypatch.setattr(thread_exports, "_PAGE_BYTES", 3 * _LARGE)
    monkeypatch.setattr(thread_imports, "_BATCH_BYTES", 3 * _LARGE)
    assert await exported(backend) == parts
    await backend.threads.delete_thread(KEY, request=None, now_ms=NOW)
    await backend.archive.import_thread(parts)
    assert await sights(backend, KEY) == before
    await backend.close()
