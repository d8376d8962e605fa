"""How an attempt begins, where something else comes between its reads and its first write."""

from __future__ import annotations

import asyncio

import pytest

from clew_engine import Agent, OfflineModel, Reply, Storage, ThreadInfo
from clew_engine.errors import ThreadNotFoundError
from clew_engine.models import after, when
from clew_engine.threads import Thread
from clew_storage import Head, ThreadKey, Write, Written


def working(storage: Storage, at_work: asyncio.Event, may_end: asyncio.Event) -> Thread:
    """A thread of an agent that works when it is told to, until it may end."""

    async def work() -> str:
        at_work.set()
        await may_end.wait()
        return "done"

    model = OfflineModel([after("work").say("worked"), when("work").call("work"), when("hello").say("hello")])
    return Agent("a", model=model, tools=[work], storage=storage).thread("t")


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_a_first_send_survives_an_update_that_makes_its_thread_meanwhile(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Storage(url) as storage:
        agent = Agent("a", storage=storage)
        threads = storage.backend.threads
        read = threads.get_head
        made: list[ThreadInfo | None] = []

        async def read_before_the_update(key: ThreadKey) -> Head | None:
            found = await read(key)
            if not made:
                made.append(None)
                made[0] = await agent.thread(key.thread_id).update(
                    name="from the inbox", user_id="ada", allow_missing=True
                )
            return found

        monkeypatch.setattr(threads, "get_head", read_before_the_update)
        reply = await agent.thread("t").send("hello")
        info = await agent.thread("t").info()
        assert made[0] is not None
        assert reply.thread_uid == made[0].thread_uid == info.thread_uid
        assert (info.name, info.user_id, info.app) == ("from the inbox", "ada", "a")
        assert storage.hub.readers() == 0
        assert not storage.live


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
@pytest.mark.parametrize(("verb", "between"), [("send", False), ("send", True), ("update_state", False)])
async def test_who_was_granted_a_thread_that_was_deleted_and_begun_anew_waits_for_its_new_run(
    url: str, verb: str, between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds nothing any more: the new run is alive, and nobody may be told that it was interrupted. `between`: the thread was gone when it looked."""
    looked, at_work, may_end, again = asyncio.Event(), asyncio.Event(), asyncio.Event(), list[asyncio.Task[Reply]]()

    async with Storage(url) as storage:
        thread = working(storage, at_work, may_end)
        first = await thread.send("hello")
        threads, leases = storage.backend.threads, storage.backend.leases
        read = threads.get_head

        async def read_when_it_is_another(key: ThreadKey) -> Head | None:
            if looked.is_set() or leases.holder(key) is None:
                return await read(key)
            looked.set()
            await thread.delete()
            found = await read(key)
            again.append(asyncio.ensure_future(thread.send("work")))
            await at_work.wait()
            asyncio.get_running_loop().call_soon(may_end.set)
            return found if between else await read(key)

        monkeypatch.setattr(threads, "get_head", read_when_it_is_another)
        if verb == "send":
            late = await thread.send("hello")
            assert late.version > (await again[0]).version
        else:
            await thread.update_state({"late": True})
            assert (await thread.state())["late"]
        (worked,) = await asyncio.gather(*again)
        assert (worked.status, worked.text) == ("completed", "worked")
        assert worked.thread_uid != first.thread_uid


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_an_opening_that_failed_leaves_the_run_alone_that_took_its_place(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread is deleted before its first write, and begun anew before it has found that out."""
    at_work, may_end = asyncio.Event(), asyncio.Event()
    refused, anew = asyncio.Event(), list[asyncio.Task[Reply]]()

    async with Storage(url) as storage:
        thread = working(storage, at_work, may_end)
        await thread.update(name="made", allow_missing=True)
        threads = storage.backend.threads
        read, append = threads.get_head, threads.append

        async def append_when_it_is_deleted(write: Write) -> Written:
            if not refused.is_set():
                await thread.delete()
                refused.set()
            return await append(write)

        async def read_when_it_is_another(key: ThreadKey) -> Head | None:
            if refused.is_set() and not anew:
                anew.append(asyncio.ensure_future(thread.send("work")))
                await at_work.wait()
            return await read(key)

        monkeypatch.setattr(threads, "append", append_when_it_is_deleted)
        monkeypatch.setattr(threads, "get_head", read_when_it_is_another)
        with pytest.raises(ThreadNotFoundError):
            await thread.send("hello")
        run = (await thread.info()).run
        may_end.set()
        assert run is not None
        assert run.state == "running"
        assert (await anew[0]).text == "worked"
        assert not storage.live
