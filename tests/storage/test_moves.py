"""Random threads move from every backend to every other, are the same there by every read, and go on alike."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clew_storage import open_storage
from clew_storage.archives import ArchiveReader, ArchiveWriter, OutputFile, open_archive
from clew_storage.conformance.draws import Draw, draw_write
from clew_storage.conformance.examples import NOW
from clew_storage.conformance.model import Model
from clew_storage.conformance.sights import sights
from clew_storage.errors import StorageError
from clew_storage.port import Backend
from clew_storage.records import Grant, ThreadKey, Write
from tests.support.postgres import in_schema

KINDS = ("memory", "sqlite", "postgres")


@dataclass
class Databases:
    """Two of each kind, the event loop that they are open in, and where archives go."""

    runner: asyncio.Runner
    sources: dict[str, Backend]
    targets: dict[str, Backend]
    folder: Path


@pytest.fixture(scope="module")
def databases(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    folder = tmp_path_factory.mktemp("moves")

    def urls(side: str) -> dict[str, str]:
        return {"memory": "memory://", "sqlite": f"sqlite://{folder}/{side}.db", "postgres": in_schema(postgres_dsn)}

    sources, targets = (
        {kind: open_storage(url) for kind, url in urls(side).items()} for side in ("sources", "targets")
    )
    with asyncio.Runner() as runner:
        for backend in (*sources.values(), *targets.values()):
            runner.run(backend.open())
        yield Databases(runner, sources, targets, folder)
        for backend in (*sources.values(), *targets.values()):
            runner.run(backend.close())


counts = count(1)


async def move(source: Backend, key: ThreadKey, path: Path, targets: list[Backend]) -> None:
    """By way of a file."""
    with closing(OutputFile(path)) as file:
        writer = ArchiveWriter(file, {})
        async with aclosing(source.archive.export_thread(key)) as parts:
            async for part in parts:
                writer.put(part)
        writer.end_thread()
        writer.end()
        writer.flush()
    with closing(open_archive(path)) as stream:
        for thread in ArchiveReader(stream, path.name):
            with closing(thread):
                for target in targets:
                    await target.archive.import_thread(thread)


async def write(backend: Backend, grant: Grant, given: Write) -> type[StorageError] | None:
    """What became of it."""
    try:
        await backend.threads.append(replace(given, epoch=grant.epoch))
    except StorageError as error:
        return type(error)
    return None


async def same_sights(source: Backend, targets: list[Backend], key: ThreadKey) -> None:
    expected, *found = await asyncio.gather(*(sights(backend, key) for backend in (source, *targets)))
    assert found == [expected] * len(targets)


async def lives_the_same(draw: Draw, databases: Databases, kind: str) -> None:
    """A thread that is written to, moved to each kind, and written to again wherever it is, with the same outcome everywhere."""
    number = next(counts)
    key = ThreadKey("acme", f"t{number}")
    source, targets = databases.sources[kind], list(databases.targets.values())
    model = Model()
    model.held[key] = grant = await source.leases.acquire(key, purpose="run", wait_s=0)

    async def grow(places: dict[Backend, Grant], times: int) -> None:
        for _ in range(times):
            step = next(counts)
            right = draw(st.integers(0, 7)) > 0
            given = draw_write(draw, grant, model.threads.get(key), now=NOW + step, count=step, right=right)
            refusal = model.append(given)
            expected = None if refusal is None else type(refusal)
            for backend, own in places.items():
                assert await write(backend, own, given) is expected

    await grow({source: grant}, draw(st.integers(1, 12)))
    if key not in model.threads:
        return
    await move(source, key, databases.folder / f"{number}.jsonl.gz", targets)
    await same_sights(source, targets, key)
    places = {source: grant}
    for target in targets:
        places[target] = await target.leases.acquire(key, purpose="run", wait_s=0)
    await grow(places, draw(st.integers(1, 8)))
    await same_sights(source, targets, key)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thread_moves_to_every_backend_and_goes_on(databases: Databases, kind: str) -> None:
    @settings(
        max_examples=100 if os.environ.get("CLEW_FAULTS") == "full" else 5,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def lives(data: st.DataObject) -> None:
        databases.runner.run(lives_the_same(data.draw, databases, kind))

    lives()
