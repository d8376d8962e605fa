"""Text of a run on one server as it comes to those who watch on another: live through Redis, and without it by whole messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import pytest

from clew_storage import RedisSettings, ThreadKey
from tests.scenarios.scripts import Gate, ScriptedModel, ask, unavailable
from tests.scenarios.sights import Reader, Seen
from tests.scenarios.world import Handle, InProcess, World, head_of
from tests.servers.conftest import LEASE_S
from tests.support.postgres import in_schema
from tests.support.redis import KeptRedis

Make = Callable[..., World]
KEY = ThreadKey("", "t")


@pytest.fixture
async def server(postgres_dsn: str) -> AsyncIterator[Make]:
    """Makes one more server on the same database, beside the Redis that it is given, with a model that gives these answers."""
    url = in_schema(postgres_dsn, lease_s=LEASE_S, poll_s=0.05)
    prefix = uuid4().hex
    made: list[World] = []

    def make(redis: str | None, *answers: object) -> World:
        world = World(url, InProcess, RedisSettings(redis, prefix=prefix) if redis else None)
        world.tune(look_s=0.05)
        world.agent(model=ScriptedModel(*answers), tools=[note])  # type: ignore[arg-type]
        made.append(world)
        return world

    yield make
    for world in made:
        await world.close()


def note() -> str:
    """A tool."""
    return "noted"


def deltas(seen: list[Seen]) -> list[tuple[int, str]]:
    """Where each piece of text begins, and what it says."""
    return [(event.data["offset"], event.data["text"]) for event in seen if event.type == "text_delta"]


async def followed(world: World) -> Reader:
    """A watch that has told all that is in the log."""
    thread = await world.thread()
    watch = thread.watch(follow=True)
    await watch.until("run_started")
    return watch


async def test_a_watch_on_another_server_gets_text_as_it_is_written(server: Make, redis_url: str) -> None:
    first, second = Gate(), Gate()
    here = server(redis_url, [first, "Zwölf ", "Boxkämpfer ", second, "jagen"])
    there = server(redis_url)
    run = (await here.thread()).stream()
    await first.wait()
    watch = await followed(there)
    first.open()
    await second.wait()
    text = ""
    while text != "Zwölf Boxkämpfer ":
        delta = await watch.until("text_delta", len(deltas(watch.seen)) + 1)
        assert delta.data["offset"] == len(text.encode())
        text += delta.data["text"]
    second.open()
    turn = await run.turn()
    await watch.until("run_completed")
    assert text + "".join(said for _, said in deltas(watch.seen)[-1:]) == turn.text
    await watch.leave()
