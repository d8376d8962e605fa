"""Several servers that take up what died: each run once at a time, by whichever is quickest."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import pytest

from clew_engine.models import ModelEvent, ModelRequest
from clew_engine.options import Recover
from clew_storage import ThreadRecord
from clew_storage.postgres.threads import PostgresThreads
from tests.scenarios.scripts import Gate, ScriptedModel, ask
from tests.scenarios.world import World, refused
from tests.servers.test_servers import serving, silence

Make = Callable[[], World]


class Book:
    """How often a tool began for each thread, on all servers; it ends when the test says so."""

    def __init__(self) -> None:
        self.began: Counter[str] = Counter()
        self.go_on = asyncio.Event()

    async def work(self, name: str) -> str:
        """A tool."""
        self.began[name] += 1
        await self.go_on.wait()
        return "done"

    async def begun(self, count: int) -> None:
        """Wait until it has begun so often."""
        async with asyncio.timeout(20):
            while self.began.total() < count:  # noqa: ASYNC110 - the tool tells nobody
                await asyncio.sleep(0)


def server_of(make: Make, book: Book) -> World:
    """A server that takes up what died when the test says so, and not by itself."""

    class Calls(ScriptedModel):
        """Calls the tool for its thread, which the message names, and then says so."""

        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            told = [message for message in request.messages if message.role == "user"][-1].text
            script = ScriptedModel("done" if request.messages[-1].role == "tool" else ask("work", name=told))
            async for event in script.stream(request):
                yield event

    world = make()
    world.agent(model=Calls(), tools=[book.work])
    return world


async def test_servers_that_look_at_once_take_up_each_run_once(server: Make) -> None:
    book = Book()
    worlds = [server_of(server, book) for _ in range(3)]
    for world in worlds:
        await (await world.thread()).history()
    names = [f"t{number}" for number in range(12)]
    runs = [(await worlds[0].thread(name)).stream(name) for name in names]
    await book.begun(12)
    for name, run in zip(names, runs, strict=True):
        await worlds[0].interrupt(name)
        await run.gone()
    taken = await asyncio.gather(*(world.storage.recovery.sweep() for world in worlds))
    assert sum(taken) == 12
    book.go_on.set()
    for name in names:
        thread = await worlds[0].thread(name)
        assert (await thread.watch().turn()).text == "done"
        assert [each["attempt"] for each in await thread.history()] == [2, 2, 2, 1, 1]
    assert set(book.began.values()) == {2}, "once in the attempt that died, and once in the one that took it up"


async def test_who_died_with_its_lease_is_taken_up_when_the_lease_is_over(server: Make) -> None:
    gate = Gate()
    here = serving(server, ScriptedModel([gate, "stale"]))
    there = server()
    there.tune(recover=Recover.AUTO, recover_s=0.05)
    there.agent("taken over")
    run = (await here.thread()).stream()
    await gate.wait()
    watch = (await there.thread()).watch()
    await watch.until("run_started")
    await silence(here)
    assert (await watch.turn()).text == "taken over", "who watches elsewhere sees the run go on"
    gate.open()
    with refused("lease_lost"):
        await run.turn()
    assert [each["source"] for each in await (await there.thread()).history()] == ["step", "retry", "input"]


async def begun_beside_a_live_run(server: Make) -> int:
    """How often the work of one run began, when another server looks for what died while its own server is alive."""
    book = Book()
    here, there = server_of(server, book), server_of(server, book)
    await (await there.thread()).history()
    run = (await here.thread()).stream("t")
    await book.begun(1)
    await book.begun(1 + await there.storage.recovery.sweep())
    book.go_on.set()
    await run.gone()
    return book.began["t"]


async def test_who_holds_its_lease_is_not_taken_up(server: Make) -> None:
    assert await begun_beside_a_live_run(server) == 1


async def test_a_recovery_that_does_not_heed_the_lease_is_caught(server: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = PostgresThreads.list_interrupted

    async def all_in_progress(self: PostgresThreads, *args: Any, **options: Any) -> Sequence[ThreadRecord]:
        session = self._session()
        statement = "UPDATE clew.leases SET expires_at = clock_timestamp() WHERE server IS NOT NULL"
        await session.write(lambda each: each.execute(session.schema.sql(statement)))
        return await listed(self, *args, **options)

    monkeypatch.setattr(PostgresThreads, "list_interrupted", all_in_progress)
    assert await begun_beside_a_live_run(server) == 2
