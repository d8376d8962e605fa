"""A storage that was closed: the file is free, and stays free until somebody opens it on purpose."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from clew_engine import Agent, OfflineModel, Storage, open_storage
from clew_engine.errors import StorageUnavailableError
from clew_engine.models.offline_rules import otherwise

SAYS_HELLO = OfflineModel([otherwise.say("hello")])


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'clew.db'}"


async def test_every_verb_is_refused_and_the_file_is_another_ones(url: str) -> None:
    storage = Storage(url)
    agent = Agent("app", model=SAYS_HELLO, storage=storage)
    thread = agent.thread("t")
    await thread.send("hi")
    await storage.aclose()
    for verb in (thread.info, lambda: thread.send("hi"), thread.history, storage.threads.list, storage.approvals.list):
        with pytest.raises(StorageUnavailableError, match="was closed; `open` opens it again"):
            await verb()
    with pytest.raises(StorageUnavailableError, match="was closed"):
        [event async for event in thread.watch()]
    async with open_storage(url) as other:
        assert (await other.thread("t").info()).version == 2


async def test_it_is_opened_again_on_purpose(url: str) -> None:
    storage = Storage(url)
    thread = Agent("app", model=SAYS_HELLO, storage=storage).thread("t")
    async with storage:
        await thread.send("hi")
    async with storage:
        assert (await thread.info()).version == 2
    await storage.open()
    assert (await thread.info()).version == 2
    await storage.aclose()


async def test_one_that_was_never_used_can_be_closed_too(url: str) -> None:
    storage = Storage(url)
    await storage.aclose()
    await storage.aclose()
    with pytest.raises(StorageUnavailableError):
        await storage.threads.list()


def test_the_blocking_forms_say_the_same(url: str) -> None:
    storage = Storage(url)
    thread = Agent("app", model=SAYS_HELLO, storage=storage).thread("t")
    thread.send_sync("hi")
    storage.aclose_sync()
    with pytest.raises(StorageUnavailableError, match="was closed"):
        thread.info_sync()
    storage.open_sync()
    assert thread.info_sync().version == 2
    storage.aclose_sync()


def test_a_script_that_runs_two_loops_without_closing_goes_on(url: str) -> None:
    storage = Storage(url)
    thread = Agent("app", model=SAYS_HELLO, storage=storage).thread("t")

    async def talk() -> int:
        return (await thread.send("hi")).version

    assert [asyncio.run(talk()), asyncio.run(talk())] == [2, 4]
    asyncio.run(storage.aclose())
