"""A server that was held up for longer than its lease, and has not yet found out that others went on with its thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from clew_storage.postgres import PostgresBackend
from tests.scenarios.handles import GONE
from tests.scenarios.scripts import ask
from tests.scenarios.world import World

Make = Callable[[], World]


def refund() -> str:
    """A tool."""
    return "refunded"


async def test_it_cancels_what_others_run_and_answers_with_where_that_ended(server: Make) -> None:
    here, there, begun, gate = server(), server(), asyncio.Event(), asyncio.Event()
    # It would find out by itself the next time that it looks.
    here.tune(look_s=60)

    async def fetch() -> str:
        begun.set()
        await gate.wait()
        return "fetched"

    async def fetch_at_once() -> str:
        return "fetched"

    fetch_at_once.__name__ = "fetch"
    here.agent(ask("fetch"), "done", tools=[fetch, refund], approve=["refund"])
    there.agent("done", ask("refund"), tools=[fetch_at_once, refund], approve=["refund"])
    thread, other = await here.thread(), await there.thread()
    held_up = asyncio.ensure_future(thread.send("first"))
    await begun.wait()
    backend = here.storage.backend
    assert isinstance(backend, PostgresBackend)
    # It renews no lease any more, so that the other one's turn comes.
    await backend._opened().keeper.close()
    assert (await other.retry()).status == "completed"
    assert (await other.send("second")).status == "suspended"
    ended = await thread.cancel()
    (newest, *_) = await other.history()
    assert (ended["status"], ended["version"]) == ("failed", newest["version"])
    gate.set()
    await asyncio.wait((held_up,))


@pytest.mark.parametrize("alive", [True, False])
async def test_it_cancels_the_thread_that_the_id_names_now_and_not_its_run_of_one_that_was_deleted(
    server: Make, alive: bool
) -> None:
    """`alive`: what the id names now has a run, on the other server."""
    here, there = server(), server()
    here.tune(look_s=60)
    begun_here, begun_there, gate = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def fetching(begun: asyncio.Event) -> Callable[[], Awaitable[str]]:
        async def fetch() -> str:
            begun.set()
            await gate.wait()
            return "fetched"

        return fetch

    here.agent(ask("fetch"), "done", tools=[fetching(begun_here)])
    there.agent(ask("fetch") if alive else "done", "done", tools=[fetching(begun_there)])
    thread, other = await here.thread(), await there.thread()
    held_up = asyncio.ensure_future(thread.send("first"))
    await begun_here.wait()
    backend = here.storage.backend
    assert isinstance(backend, PostgresBackend)
    await backend._opened().keeper.close()
    await other.delete()
    anew = asyncio.ensure_future(other.send("anew"))
    await (begun_there.wait() if alive else anew)
    if alive:
        assert (await thread.info())["run"]["state"] == "running"
    ended = await thread.cancel()
    (newest, *_) = await other.history()
    assert (ended["status"], ended["id"]) == ("failed" if alive else "completed", newest["id"])
    gate.set()
    await asyncio.wait((held_up, anew))
    assert isinstance(held_up.exception(), GONE)
