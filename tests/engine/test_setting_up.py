"""`Storage.setup`: migrations are run by themselves, by any number of processes at a time, and the file is left free."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew_engine import ClewError, Storage, open_storage
from clew_storage.sqlite.ownership import Ownership

# Sets the file up when it is told to, so that all do it at once, and then uses it where it is told that too.
SETS_UP = """
import asyncio, sys
from clew_engine import open_storage

async def main():
    storage = open_storage(sys.argv[1])
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await storage.setup(timeout=60)
    print("done", flush=True)
    if sys.argv[2] == "stay":
        await storage.open()
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
    await storage.aclose()

asyncio.run(main())
"""


def begun(url: str, then: str = "leave") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SETS_UP, url, then],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def told(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == word, process.communicate(timeout=60)


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_processes_that_set_up_a_fresh_file_at_once_all_succeed(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    processes = [begun(url) for _ in range(6)]
    for process in processes:
        told(process, "ready")
    for process in processes:
        tell(process)
    ended = [process.communicate(timeout=120) for process in processes]
    assert [(process.returncode, *said) for process, said in zip(processes, ended, strict=True)] == [
        (0, "done\n", "")
    ] * len(processes)

    async def used() -> list[object]:
        async with open_storage(url) as storage:
            await storage.thread("t").update_state({"a": 1})
            return [await storage.thread("t").state(), len(await storage.threads.list())]

    assert asyncio.run(used()) == [{"a": 1}, 1]


def test_a_file_that_stays_in_use_is_told_with_its_owner_and_is_set_up_when_it_is_free(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    owner = begun(url, "stay")
    told(owner, "ready")
    tell(owner)
    told(owner, "done")
    told(owner, "open")

    async def refused_then_waiting() -> None:
        storage = open_storage(url)
        with pytest.raises(ClewError, match=f"in use by process {owner.pid}") as refusal:
            await storage.setup(timeout=0.05)
        assert refusal.value.code == "storage_unavailable"
        waiting = asyncio.create_task(storage.setup(timeout=60))
        tell(owner)
        await waiting

    asyncio.run(refused_then_waiting())
    assert owner.wait(60) == 0
    for pipe in (owner.stdin, owner.stdout, owner.stderr):
        assert pipe is not None
        pipe.close()


async def test_nothing_is_held_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    storage = Storage(f"sqlite://{path}")
    await storage.setup()
    await storage.setup()
    Ownership.take(path).release()
    await storage.thread("t").update_state({"a": 1})
    await storage.aclose()
    await storage.aclose()
    Ownership.take(path).release()


async def test_several_in_one_process_and_uses_meanwhile_wait_for_each_other(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    one, two = Storage(url), Storage(url)
    await asyncio.gather(one.setup(), two.setup(), one.setup(), two.setup())
    _, written = await asyncio.gather(one.setup(), one.thread("t").update_state({"a": 1}))
    assert written["version"] == 1
    # It is open now, and stays so.
    await one.setup()
    assert await one.thread("t").state() == {"a": 1}
    await one.aclose()


async def test_a_setup_that_is_cancelled_leaves_the_file_free(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    storage = Storage(f"sqlite://{path}")
    held = Ownership.take(path)
    waiting = asyncio.create_task(storage.setup())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    held.release()
    await storage.setup()


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_a_database_in_memory_needs_none_and_keeps_what_it_has(url: str) -> None:
    async with open_storage(url) as storage:
        await storage.thread("t").update_state({"a": 1})
        await storage.setup()
        assert await storage.thread("t").state() == {"a": 1}


async def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clew.db"
    path.write_bytes(os.urandom(4096))
    with pytest.raises(ClewError) as refusal:
        await Storage(f"sqlite://{path}").setup()
    assert refusal.value.code == "storage_unavailable"
    Ownership.take(path).release()


def test_it_has_blocking_forms(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite://{tmp_path / 'clew.db'}")
    storage.setup_sync()
    storage.thread("t").update_state_sync({"a": 1})
    assert [each.thread_id for each in storage.threads.list_sync()] == ["t"]
    assert storage.approvals.list_sync() == []
    storage.cache.put_sync("n", "k", 1)
    storage.aclose_sync()
    storage.open_sync()
    assert storage.thread("t").state_sync() == {"a": 1}
    storage.aclose_sync()
