"""`export`, `import_` and `stats` of a Storage."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from clew_engine import Agent, ClewError, OfflineModel, Storage
from clew_engine.errors import (
    ArgumentInvalidError,
    DataCorruptError,
    IdInvalidError,
    StorageUnavailableError,
    ThreadExistsError,
    ThreadNotFoundError,
)
from clew_engine.models import after, otherwise, when
from clew_storage import ThreadKey


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Storage]:
    async with Storage(f"sqlite://{tmp_path}/source.db") as storage:
        yield storage


@pytest.fixture
async def target(tmp_path: Path) -> AsyncIterator[Storage]:
    storage = Storage(f"sqlite://{tmp_path}/target.db")
    yield storage
    await storage.aclose()


def ids(archive: Path) -> list[str]:
    """The threads of an archive, in their order."""
    lines = map(json.loads, archive.read_text(encoding="utf-8").splitlines())
    return [line["thread"]["id"] for line in lines if "thread" in line]


def names(folder: Path, pattern: str) -> list[str]:
    """Of the files there."""
    return sorted(path.name for path in folder.glob(pattern))


async def talk(storage: Storage, *threads: str, app: str = "support", user: str = "ada") -> None:
    """A turn on each thread, each later than the one before."""
    agent = Agent(app, model=OfflineModel(), storage=storage)
    for thread in threads:
        await agent.thread(thread).send("hi", user_id=user)


async def test_threads_go_out_and_come_in(source: Storage, target: Storage, tmp_path: Path) -> None:
    await talk(source, "a", "b", "c")
    exported = await source.export(tmp_path / "it.jsonl")
    imported = await target.import_(tmp_path / "it.jsonl")

    assert (exported.threads, imported.imported, imported.skipped) == (3, 3, 0)
    assert exported.sha256 == imported.sha256
    assert exported.bytes == imported.bytes == (tmp_path / "it.jsonl").stat().st_size
    for thread in "abc":
        assert await target.thread(thread).messages() == await source.thread(thread).messages()
        assert await target.thread(thread).history() == await source.thread(thread).history()


async def test_streams_do_as_well(source: Storage, target: Storage) -> None:
    await talk(source, "a")
    stream = io.BytesIO()
    await source.export(stream)
    stream.seek(0)
    assert (await target.import_(stream)).imported == 1


def test_the_blocking_forms_do_the_same(tmp_path: Path) -> None:
    source, target = (Storage(f"sqlite://{tmp_path}/{name}.db") for name in ("source", "target"))
    Agent("support", model=OfflineModel(), storage=source).thread("a").send_sync("hi")
    assert source.export_sync(tmp_path / "it").threads == 1
    assert target.import_sync(tmp_path / "it").imported == 1
    assert target.stats_sync().threads == 1
    for storage in (source, target):
        storage.aclose_sync()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["d", "c", "b", "a"]),
        ({"app": "support"}, ["c", "a"]),
        ({"user_id": "bob"}, ["d", "b"]),
        ({"status": "failed"}, []),
        ({"status": "completed", "app": "sales"}, ["d", "b"]),
        ({"threads": ["c", "a", "c"]}, ["a", "c"]),
        ({"tenant": "umbrella"}, []),
        ({"tenant": ""}, ["d", "c", "b", "a"]),
    ],
)
async def test_threads_are_chosen(source: Storage, tmp_path: Path, wanted: dict[str, Any], found: list[str]) -> None:
    clock = iter(range(1, 1000))
    source.now_ms = lambda: next(clock)
    for thread in "abcd":
        await talk(source, thread, **({"app": "support"} if thread in "ac" else {"app": "sales", "user": "bob"}))
    await source.export(tmp_path / "it", **wanted)
    assert ids(tmp_path / "it") == found


async def test_a_named_thread_that_is_not_there_is_said_before_a_file_is_made(source: Storage, tmp_path: Path) -> None:
    await talk(source, "a")
    with pytest.raises(ThreadNotFoundError, match="'b'"):
        await source.export(tmp_path / "it", threads=["a", "b"])
    assert not (tmp_path / "it").exists()


@pytest.mark.parametrize(
    ("wanted", "error", "told"),
    [
        ({"threads": ["a"], "app": "support"}, ArgumentInvalidError, "and not both"),
        ({"threads": ["/"]}, IdInvalidError, "threads"),
        ({"status": "asleep"}, ArgumentInvalidError, "status"),
        ({"progress": 5}, ArgumentInvalidError, "progress"),
    ],
)
async def test_what_cannot_be_meant_is_refused(
    source: Storage, tmp_path: Path, wanted: dict[str, Any], error: type[ClewError], told: str
) -> None:
    with pytest.raises(error, match=told):
        await source.export(tmp_path / "it", **wanted)


async def test_files_that_cannot_be_used_are_refused(source: Storage, tmp_path: Path) -> None:
    (tmp_path / "it").touch()
    with pytest.raises(ArgumentInvalidError, match="exists; name another file, or go on"):
        await source.export(tmp_path / "it")
    with pytest.raises(ArgumentInvalidError, match="No such file"):
        await source.export(tmp_path / "none" / "it")
    with pytest.raises(ArgumentInvalidError, match="No such file"):
        await source.import_(tmp_path / "none")
    with pytest.raises(ArgumentInvalidError, match="no file of its own"):
        await source.export(io.BytesIO(), resume=True)
    with pytest.raises(ArgumentInvalidError, match="a file's name, or an open binary file"):
        await source.export(cast("Any", 5))


async def test_an_export_that_was_stopped_goes_on(source: Storage, tmp_path: Path) -> None:
    await talk(source, *"abcdef")
    await source.export(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "it").write_bytes(whole[: whole.index(b'"id":"c"')])
    done = await source.export(tmp_path / "it", resume=True)
    assert (done.threads, done.resumed) == (6, 3)
    assert (tmp_path / "it").read_bytes() == whole
    # Nothing is left to do, which is no error for a script that asks until it is done.
    assert (await source.export(tmp_path / "it", resume=True)).resumed == 6
    # A file that was never begun is begun.
    assert (await source.export(tmp_path / "new", resume=True)).resumed == 0
    with pytest.raises(ArgumentInvalidError, match="resume it with the same"):
        await source.export(tmp_path / "it", resume=True, app="support")


async def test_an_export_of_named_threads_goes_on(source: Storage, tmp_path: Path) -> None:
    await talk(source, *"abcd")
    await source.export(tmp_path / "whole", threads=["a", "b", "d"])
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "it").write_bytes(whole[: len(whole) // 2])
    assert (await source.export(tmp_path / "it", threads=["d", "b", "a"], resume=True)).resumed == 1
    assert (tmp_path / "it").read_bytes() == whole


@pytest.mark.parametrize("whole", [False, True])
async def test_an_archive_of_another_database_is_not_gone_on_with(
    source: Storage, target: Storage, tmp_path: Path, whole: bool
) -> None:
    await talk(source, *"abc")
    # The same ids, and still other threads.
    await talk(target, *"abcd")
    await source.export(tmp_path / "it")
    begun = (tmp_path / "it").read_bytes()
    begun = begun if whole else begun[: begun.index(b'"id":"a"')]
    (tmp_path / "it").write_bytes(begun)
    with pytest.raises(ArgumentInvalidError, match="begun from another one, or all of them were deleted since; name"):
        await target.export(tmp_path / "it", resume=True)
    assert (tmp_path / "it").read_bytes() == begun
    assert names(tmp_path, "*it*") == ["it"]
    assert names(tmp_path, "clew-export-*") == []


async def test_one_thread_that_is_still_there_says_whose_archive_it_is(source: Storage, tmp_path: Path) -> None:
    threads = [f"t{number}" for number in range(130)]
    await talk(source, *threads)
    await source.export(tmp_path / "it")
    whole = (tmp_path / "it").read_bytes()
    (tmp_path / "it").write_bytes(whole[: whole.index(b'"id":"t0"')])
    # The newest stand first in it; retention takes the oldest, which stand last.
    for thread in threads[:-1]:
        await source.thread(thread).delete()
    assert (await source.export(tmp_path / "it", resume=True)).resumed == 129


async def test_an_archive_is_gone_on_with_from_a_copy_of_its_database(
    source: Storage, target: Storage, tmp_path: Path
) -> None:
    await talk(source, *"abc")
    await source.export(tmp_path / "whole")
    await target.import_(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "it").write_bytes(whole[: whole.index(b'"id":"a"')])
    done = await target.export(tmp_path / "it", resume=True)
    assert (done.threads, done.resumed) == (3, 2)


async def test_all_tenants_go_along(source: Storage, target: Storage, tmp_path: Path) -> None:
    for tenant in ("", "acme", "umbrella"):
        await source.thread("t", tenant=tenant).update_state({"tenant": tenant})
    await source.export(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "it").write_bytes(whole[: len(whole) // 2])
    assert (await source.export(tmp_path / "it", resume=True)).threads == 3
    assert (tmp_path / "it").read_bytes() == whole
    await target.import_(tmp_path / "it")
    for tenant in ("", "acme", "umbrella"):
        assert await target.thread("t", tenant=tenant).state() == {"tenant": tenant}


async def test_an_import_that_is_repeated_skips_what_is_there(source: Storage, target: Storage, tmp_path: Path) -> None:
    await talk(source, *"abc")
    await source.export(tmp_path / "two", threads=["a", "b"])
    await source.export(tmp_path / "it")
    await target.import_(tmp_path / "two")
    done = await target.import_(tmp_path / "it")
    assert (done.imported, done.skipped) == (1, 2)
    assert (await target.import_(tmp_path / "it")).skipped == 3


async def test_a_thread_that_was_written_to_since_is_not_written_over(
    source: Storage, target: Storage, tmp_path: Path
) -> None:
    await talk(source, "a")
    await source.export(tmp_path / "it")
    await target.import_(tmp_path / "it")
    await target.thread("a").update_state({"x": 1})
    with pytest.raises(ThreadExistsError, match="'a' exists here and is not as it is in the archive"):
        await target.import_(tmp_path / "it")
    with pytest.raises(ThreadExistsError):
        await target.import_(tmp_path / "it", dry_run=True)
    assert (await target.thread("a").state())["x"] == 1


async def test_a_dry_run_tells_what_would_be_done_and_does_nothing(
    source: Storage, target: Storage, tmp_path: Path
) -> None:
    await talk(source, "a", "b")
    await source.export(tmp_path / "one", threads=["a"])
    await source.export(tmp_path / "it")
    await target.import_(tmp_path / "one")
    done = await target.import_(tmp_path / "it", dry_run=True)
    assert (done.imported, done.skipped, done.dry_run) == (1, 1, True)
    assert [info.thread_id for info in await target.threads.list()] == ["a"]


async def test_of_a_damaged_file_nothing_is_imported(source: Storage, target: Storage, tmp_path: Path) -> None:
    await talk(source, *"abcdefgh")
    await source.export(tmp_path / "it")
    whole = (tmp_path / "it").read_bytes()
    (tmp_path / "it").write_bytes(whole[:-300] + bytes((whole[-300] ^ 1,)) + whole[-299:])
    with pytest.raises(DataCorruptError, match=r"it, line \d+: "):
        await target.import_(tmp_path / "it")
    assert not (tmp_path / "target.db").exists()


async def test_of_a_damaged_stream_whole_threads_are_kept_and_imported_once(
    source: Storage, target: Storage, tmp_path: Path
) -> None:
    await talk(source, *"abcdefg")
    await source.export(tmp_path / "it")
    whole = (tmp_path / "it").read_bytes()
    with pytest.raises(DataCorruptError, match="after 6 whole threads"):
        await target.import_(io.BytesIO(whole[:-400]))
    assert (await target.stats()).threads == 6
    done = await target.import_(io.BytesIO(whole))
    assert (done.imported, done.skipped) == (1, 6)


async def test_a_run_that_is_under_way_goes_out_as_its_last_checkpoint_left_it(
    source: Storage, target: Storage, tmp_path: Path
) -> None:
    ran: list[str] = []
    asked, let_go = asyncio.Event(), asyncio.Event()

    def look_up() -> str:
        ran.append("look_up")
        return "found"

    async def wait() -> str:
        ran.append("wait")
        asked.set()
        await let_go.wait()
        return "done"

    def agent(storage: Storage) -> Agent:
        rules = [
            when("go").call("look_up"),
            after("look_up").call("wait"),
            after("wait").say("ready"),
            otherwise.say("?"),
        ]
        return Agent("support", model=OfflineModel(rules), tools=[look_up, wait], storage=storage)

    running = asyncio.create_task(agent(source).thread("a").send("go"))
    await asked.wait()
    await source.export(tmp_path / "it")
    let_go.set()
    assert (await running).text == "ready"

    await target.import_(tmp_path / "it")
    moved = agent(target).thread("a")
    info = await moved.info()
    assert info.run is not None
    assert info.run.state == "interrupted"
    assert (await moved.retry()).text == "ready"
    # What was recorded before the export did not run again.
    assert ran == ["look_up", "wait", "wait"]


async def test_a_repeated_request_is_known_after_the_move(source: Storage, target: Storage, tmp_path: Path) -> None:
    first = await source.thread("a").update_state({"n": 1}, request_id="r-1")
    await source.export(tmp_path / "it")
    await target.import_(tmp_path / "it")
    assert await target.thread("a").update_state({"n": 1}, request_id="r-1") == first
    assert len(await target.thread("a").history()) == 1


async def test_progress_is_told(source: Storage, target: Storage, tmp_path: Path) -> None:
    await talk(source, *"abcdef")
    told: list[tuple[int, int]] = []
    progress: Callable[[int, int], None] = lambda threads, size: told.append((threads, size))  # noqa: E731
    await source.export(tmp_path / "it", progress=progress)
    assert [threads for threads, _ in told] == [1, 2, 3, 4, 5, 6]
    told.clear()
    await target.import_(tmp_path / "it", progress=progress)
    assert told[-1] == (6, (tmp_path / "it").stat().st_size)


async def test_what_only_reads_exports_and_counts_beside_its_owner_and_imports_nothing(
    source: Storage, tmp_path: Path
) -> None:
    await talk(source, "a")
    async with Storage(f"sqlite://{tmp_path}/source.db?mode=ro") as beside:
        assert (await beside.export(tmp_path / "it")).threads == 1
        assert (await beside.stats()).threads == 1
        with pytest.raises(StorageUnavailableError, match="mode=ro"):
            await beside.import_(tmp_path / "it")


async def test_stats_say_how_much_there_is(source: Storage) -> None:
    await talk(source, "a", "b")
    stats = await source.stats(largest=1)
    assert stats.threads == 2
    assert [size.key for size in stats.largest] == [ThreadKey("", "a")]
    with pytest.raises(ArgumentInvalidError, match="largest"):
        await source.stats(largest=-1)
