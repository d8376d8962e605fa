"""Exports and imports that are killed, and asked again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clew_engine import Storage
from clew_storage import Amount, Kind, open_storage
from clew_storage.archives import OutputFile
from clew_storage.conformance.archive_promises import a_rich_thread
from clew_storage.conformance.archive_promises import exported as parts_of
from clew_storage.conformance.examples import KEY
from clew_storage.conformance.sights import sights
from tests.support.postgres import in_schema

DYING = Path(__file__).with_name("dying.py")
THREADS = 23


@pytest.fixture
async def source(tmp_path: Path) -> str:
    """The URL of a database with many small threads."""
    url = f"sqlite://{tmp_path}/source.db"
    async with Storage(url) as storage:
        for number in range(THREADS):
            await storage.thread(f"t{number:02}").update_state({"n": number})
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty one."""
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/target.db"
    dsn: str = request.getfixturevalue("postgres_dsn")
    return in_schema(dsn)


def die(verb: str, url: str, file: Path, number: int) -> None:
    done = subprocess.run([sys.executable, DYING, verb, url, file, str(number)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL


async def test_a_killed_import_that_is_asked_again_ends_with_the_same_content(
    source: str, target: str, tmp_path: Path
) -> None:
    file = tmp_path / "it.jsonl.gz"
    async with Storage(source) as storage:
        exported = await storage.export(file)
    die("import", target, file, 8)
    async with Storage(target) as storage:
        there = (await storage.stats()).threads
        done = await storage.import_(file)
        assert (there, done.imported, done.skipped) == (8, THREADS - 8, 8)
        # The same threads make the same archive.
        assert (await storage.export(tmp_path / "back.jsonl.gz")).sha256 == exported.sha256


@pytest.mark.parametrize("name", ["it.jsonl", "it.jsonl.gz"])
async def test_a_killed_export_that_is_resumed_ends_with_the_same_file(source: str, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    die("export", source, file, 9)
    async with Storage(source) as storage:
        done = await storage.export(file, resume=True)
        assert done.threads == THREADS
        assert done.sha256 == (await storage.export(tmp_path / "whole.jsonl")).sha256


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One for archives alone."""
    folder = tmp_path / "archives"
    folder.mkdir()
    return folder


async def export_and_cut(source: str, file: Path) -> None:
    """An export of it all, whose end is then taken away."""
    async with Storage(source) as storage:
        await storage.export(file)
    cut(file)


def cut(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 3 // 4])


def names(folder: Path) -> set[str]:
    """What is in a folder."""
    return {each.name for each in folder.iterdir()}


@pytest.mark.parametrize("name", ["it.jsonl", "it.jsonl.gz"])
async def test_what_resumes_that_were_killed_left_is_removed_by_the_next_one(
    source: str, folder: Path, name: str
) -> None:
    file = folder / name
    await export_and_cut(source, file)
    for copied in (3, 5):
        die("resume", source, file, copied)
        # The second one took away what the first had left.
        assert len(names(folder)) == 2
    (left,) = names(folder) - {name}
    others = {"clew-export-notes", f"clew-export-{'0' * 16}-abcdefgh", f"{left}.txt"}
    for other in others:
        (folder / other).write_text("a user's own")
    async with Storage(source) as storage:
        assert (await storage.export(file, resume=True)).threads == THREADS
    assert names(folder) == {name, *others}


async def test_a_new_export_removes_what_was_left_of_the_archive_before(source: str, folder: Path) -> None:
    file = folder / "it.jsonl"
    await export_and_cut(source, file)
    die("resume", source, file, 3)
    file.unlink()
    async with Storage(source) as storage:
        await storage.export(file)
    assert names(folder) == {"it.jsonl"}


async def test_the_file_of_an_export_that_is_alive_stays(source: str, folder: Path) -> None:
    file = folder / "it.jsonl"
    alive = OutputFile.beside(file)
    async with Storage(source) as storage:
        await storage.export(file)
        assert names(folder) == {"it.jsonl", alive.path.name}
        alive.close()
        await storage.export(file, resume=True)
    assert names(folder) == {"it.jsonl"}


async def expect_nothing(target: str) -> None:
    """Not a row of any thread."""
    backend = open_storage(target)
    await backend.open()
    try:
        assert await backend.threads.get_head(KEY) is None
        stats = await backend.sizes.stats(largest=0)
        assert (stats.threads, stats.kinds) == (0, dict.fromkeys(Kind, Amount()))
    finally:
        await backend.close()


async def test_a_kill_in_the_middle_of_a_thread_leaves_nothing_of_it(target: str, tmp_path: Path) -> None:
    file = tmp_path / "it"
    async with Storage("memory://") as storage:
        await a_rich_thread(storage.backend)
        exported = await storage.export(file)
        before, parts = await sights(storage.backend, KEY), len(await parts_of(storage.backend))
    for number in (parts // 2, parts):
        die("part", target, file, number)
        await expect_nothing(target)
    async with Storage(target) as storage:
        assert (await storage.import_(file)).sha256 == exported.sha256
        assert await sights(storage.backend, KEY) == before


async def test_half_a_thread_would_be_seen(target: str) -> None:
    source, broken = open_storage("memory://"), open_storage(target)
    await source.open()
    await broken.open()
    await a_rich_thread(source)
    await broken.archive.import_thread((await parts_of(source))[:10])
    await broken.close()
    await source.close()
    with pytest.raises(AssertionError):
        await expect_nothing(target)
