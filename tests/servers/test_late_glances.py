"""What a server finds when it looks at its threads may be older than what it has done with them since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from clew_storage import Glance, Grant, ThreadKey, Write, Written
from tests.scenarios.world import World

Make = Callable[[], World]


async def test_a_run_that_is_at_its_end_when_a_look_from_before_it_comes_back_is_not_told_that_its_thread_is_gone(
    server: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = server()
    world.tune(look_s=0.01)
    world.agent("said")
    thread = await world.thread()
    looked, at_end, looked_again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    threads, leases = world.storage.backend.threads, world.storage.backend.leases
    sending = list[asyncio.Future[Any]]()
    glance, append, release = threads.glance, threads.append, leases.release

    async def glance_late(keys: Sequence[ThreadKey]) -> Mapping[ThreadKey, Glance]:
        if looked.is_set():
            looked_again.set()
            return await glance(keys)
        found = await glance(keys)
        looked.set()
        await at_end.wait()
        return found

    async def append_after_the_look(write: Write) -> Written:
        await looked.wait()
        return await append(write)

    async def release_before_the_next(grant: Grant) -> None:
        at_end.set()
        again = asyncio.ensure_future(looked_again.wait())
        await asyncio.wait((again, *sending), return_when=asyncio.FIRST_COMPLETED)
        again.cancel()
        await release(grant)

    monkeypatch.setattr(threads, "glance", glance_late)
    monkeypatch.setattr(threads, "append", append_after_the_look)
    monkeypatch.setattr(leases, "release", release_before_the_next)
    sending.append(asyncio.ensure_future(thread.send("hello")))
    turn = await sending[0]
    assert (turn.status, turn.text) == ("completed", "said")
