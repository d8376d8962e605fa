"""Versions count a thread's checkpoints without a gap, and mutations compare them before they set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.scenarios.heads import refund, standing
from tests.scenarios.scripts import ask, rejected
from tests.scenarios.world import World, refused, snapshot


async def test_versions_are_gapless_and_each_has_its_parent(world: World) -> None:
    def note() -> str:
        return "noted"

    world.agent([ask("note"), ask("note")], rejected(), "ok", tools=[note])
    thread = await world.thread()
    await thread.send()
    await thread.retry()
    history = await thread.history()
    assert [each["version"] for each in history] == list(range(len(history), 0, -1))
    assert [each["parent_id"] for each in history] == [each["id"] for each in history[1:]] + [None]


async def test_a_send_to_a_thread_that_is_expected_not_to_be_there(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    assert (await thread.send(expected_version=0)).status == "completed"
    before = await snapshot(thread)
    with refused("version_conflict", version="2", expected_version="0"):
        await thread.send(expected_version=0)
    assert await snapshot(thread) == before


async def test_of_two_sends_with_the_same_expected_version_one_wins(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send()
    sends = [thread.send(expected_version=2) for _ in range(2)]
    won, lost = sorted(
        await asyncio.gather(*sends, return_exceptions=True), key=lambda each: isinstance(each, Exception)
    )
    assert not isinstance(won, BaseException)
    with refused("version_conflict"):
        raise lost if isinstance(lost, BaseException) else AssertionError("both won")


@pytest.mark.parametrize("verb", ["send", "decide", "rewind", "cancel", "delete"])
async def test_a_mutation_of_another_version_is_refused(world: World, verb: str) -> None:
    at = await standing(world, "suspended")
    before = await snapshot(at.thread)
    calls: dict[str, Callable[[], Awaitable[Any]]] = {
        "send": lambda: at.thread.send(expected_version=1),
        "decide": lambda: at.thread.decide({at.approval: True}, expected_version=1),
        "rewind": lambda: at.thread.rewind(at.checkpoint, expected_version=1),
        "cancel": lambda: at.thread.cancel(expected_version=1),
        "delete": lambda: at.thread.delete(expected_version=1),
    }
    with refused("version_conflict"):
        await calls[verb]()
    assert await snapshot(at.thread) == before


async def test_a_retry_of_another_version_is_refused(world: World) -> None:
    at = await standing(world, "failed")
    with refused("version_conflict"):
        await at.thread.retry(expected_version=1)
    assert (await at.thread.retry(expected_version=2)).status == "completed"


async def test_an_update_has_no_version_and_its_etag_guards_it(world: World) -> None:
    at = await standing(world, "completed")
    before = await at.thread.info()
    await at.thread.update(name="one", etag='"1"')
    with refused("version_conflict"):
        await at.thread.update(name="two", etag='"1"')
    after = await at.thread.info()
    assert (after["name"], after["version"]) == ("one", before["version"])


async def test_a_thread_belongs_to_the_app_of_its_first_send(world: World) -> None:
    world.agent("ok")
    world.agent("ok", name="other")
    await (await world.thread()).send()
    stranger = await world.thread(app="other")
    before = await snapshot(stranger)
    with refused("app_mismatch"):
        await stranger.send()
    assert await snapshot(stranger) == before


async def test_another_app_is_told_so_also_where_the_thread_waits(world: World) -> None:
    world.agent(ask("refund", amount=7), tools=[refund], approve=["refund"])
    world.agent("ok", name="other")
    await (await world.thread()).send()
    stranger = await world.thread(app="other")
    before = await snapshot(stranger)
    with refused("app_mismatch"):
        await stranger.send()
    assert await snapshot(stranger) == before
