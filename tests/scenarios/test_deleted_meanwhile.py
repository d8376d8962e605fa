"""A thread that is deleted in the middle of a call: the call says so, whatever it was about to write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from clew_storage import Head, LeaseLost, ThreadKey, Write, Written
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate
from tests.scenarios.world import Handle, World, refused

CALLS: dict[str, tuple[str, Callable[[Any], Awaitable[Any]]]] = {
    "send": ("completed", lambda at: at.thread.send("more")),
    "retry": ("failed", lambda at: at.thread.retry()),
    "decide": ("suspended", lambda at: at.thread.decide({at.approval: True})),
    "cancel": ("suspended", lambda at: at.thread.cancel()),
    "update_state": ("completed", lambda at: at.thread.update_state({"a": 1})),
    "clear_state": ("completed", lambda at: at.thread.clear_state()),
    "append_messages": ("completed", lambda at: at.thread.append_messages([{"role": "user", "content": "x"}])),
    "update_message": ("completed", lambda at: at.thread.update_message("m1.0", "other")),
    "delete_message": ("completed", lambda at: at.thread.delete_message("m1.0")),
    "rewind": ("completed", lambda at: at.thread.rewind(at.checkpoint)),
}


def held(world: World, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """The next write waits at a gate on its way to the database."""
    gate, threads = Gate(), world.storage.backend.threads
    append = threads.append

    async def slow(write: Write) -> Written:
        await gate.pass_through()
        return await append(write)

    monkeypatch.setattr(threads, "append", slow)
    return gate


@pytest.mark.parametrize("again", [False, True], ids=["gone", "made again"])
@pytest.mark.parametrize("verb", CALLS)
async def test_a_write_that_a_delete_overtakes_says_that_there_is_no_thread(
    world: World, monkeypatch: pytest.MonkeyPatch, verb: str, again: bool
) -> None:
    head, call = CALLS[verb]
    at = await standing(world, head)
    gate = held(world, monkeypatch)
    calling = asyncio.ensure_future(call(at))
    await gate.wait()
    uid = (await at.thread.info())["thread_uid"]
    assert await at.thread.delete()
    if again:
        await at.thread.update(name="another")
    gate.open()
    with refused("thread_not_found", thread_uid=uid) as raised:
        await calling
    assert "was deleted" in str(raised.value)
    if again:
        assert (await at.thread.info())["version"] == 0
    else:
        assert await at.thread.history() == []


async def test_a_run_whose_thread_is_deleted_says_that_it_was(world: World) -> None:
    gate = Gate()
    world.agent([gate, "late"])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    watching = thread.watch(0)
    await watching.until("run_started")
    await thread.delete()
    for reading in (run, watching):
        with refused("thread_not_found") as raised:
            await reading.turn()
        assert "was deleted" in str(raised.value)
    gate.open()


@pytest.mark.parametrize("verb", ["send", "update_state"])
async def test_a_lease_that_another_server_took_is_lost(
    here: World, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    at = await standing(here, "completed")

    async def taken(_: Write) -> Written:
        raise LeaseLost("another server has it")

    monkeypatch.setattr(here.storage.backend.threads, "append", taken)
    with refused("lease_lost"):
        await CALLS[verb][1](at)


async def test_a_send_whose_thread_is_deleted_as_it_is_granted_the_lease_begins_a_new_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.agent("one", "two")
    thread = await world.thread()
    await thread.send()
    threads = world.storage.backend.threads
    get_head = threads.get_head

    async def late(key: ThreadKey) -> Head | None:
        monkeypatch.setattr(threads, "get_head", get_head)
        await threads.delete_thread(key, request=None, now_ms=0)
        return await get_head(key)

    monkeypatch.setattr(threads, "get_head", late)
    turn = await thread.send("more")
    assert turn.text == "two"
    (asked, _) = await thread.messages()
    assert asked["version"] == 1


async def races(thread: Handle) -> list[str]:
    """How writes end that are made at the same time as a delete."""
    await thread.send()
    checkpoint = (await thread.history())[0]["id"]
    calls: list[Awaitable[Any]] = [
        thread.update_state({"a": 1}),
        thread.delete(),
        thread.rewind(checkpoint),
        thread.append_messages([{"role": "user", "content": "x"}]),
        thread.send(),
    ]
    ends = await asyncio.gather(*calls, return_exceptions=True)
    await thread.delete()
    return [getattr(end, "code", repr(end)) for end in ends if isinstance(end, BaseException)]


async def test_writes_that_race_a_delete_lose_no_lease(world: World) -> None:
    thread = await world.thread()
    ends = {end for _ in range(20) for end in await races(thread)}
    assert ends <= {"thread_not_found", "checkpoint_not_found"}
