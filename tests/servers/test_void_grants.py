"""A call that was granted its thread, and before it looks at it the thread is deleted, and begun anew through another server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from clew_storage import Head, ThreadKey
from tests.scenarios.handles import GONE
from tests.scenarios.scripts import ask
from tests.scenarios.world import Handle, World

Make = Callable[[], World]


async def send(thread: Handle) -> Any:
    """A new run."""
    return await thread.send("late")


async def update(thread: Handle) -> Any:
    """A write that is no run."""
    return await thread.update_state({"late": True})


async def cancel(thread: Handle) -> Any:
    """What would end a run that nobody has under way."""
    return await thread.cancel()


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("call", [send, update, cancel])
async def test_it_neither_ends_nor_calls_interrupted_what_is_alive(
    server: Make, monkeypatch: pytest.MonkeyPatch, call: Callable[[Handle], Any], between: bool
) -> None:
    """`between`: it looks when the thread is gone, and not yet begun anew."""
    here, there = server(), server()
    at_work, may_end = asyncio.Event(), asyncio.Event()

    async def fetch() -> str:
        at_work.set()
        await may_end.wait()
        return "fetched"

    there.agent("said", ask("fetch"), "worked", tools=[fetch])
    here.agent("late")
    thread, other = await here.thread(), await there.thread()
    await other.send("first")
    threads, leases = here.storage.backend.threads, here.storage.backend.leases
    read, anew = threads.get_head, list[asyncio.Task[Any]]()

    async def read_late(key: ThreadKey) -> Head | None:
        if anew or leases.holder(key) is None:
            return await read(key)
        await other.delete()
        gone = await read(key)
        anew.append(asyncio.create_task(other.send("work")))
        await at_work.wait()
        asyncio.get_running_loop().call_soon(may_end.set)
        return gone if between else await read(key)

    monkeypatch.setattr(threads, "get_head", read_late)
    # To whom it was gone it may be said so.
    with suppress(*(GONE if between and call is not send else ())):
        await call(thread)
    turn = await anew[0]
    assert (turn.status, turn.text) == ("completed", "worked")
