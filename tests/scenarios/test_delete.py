"""Delete: one transaction, at once and final; nothing of the old thread comes back."""

from __future__ import annotations

import asyncio

import pytest

from clew_storage import ThreadKey
from tests.scenarios.heads import HEADS, standing
from tests.scenarios.scripts import Gate, Stubborn, ask
from tests.scenarios.world import World, refused


@pytest.mark.parametrize("head", HEADS[1:])
async def test_a_thread_made_later_has_a_new_uid_and_no_trace_of_the_old(world: World, head: str) -> None:
    at = await standing(world, head)
    old = await at.thread.info()
    assert await at.thread.delete() is True
    assert await at.thread.messages() == []
    assert await at.thread.history() == []
    assert await at.thread.approvals() == []
    if at.gate is not None:
        at.gate.open()
    turn = await at.thread.send("anew")
    info = await at.thread.info()
    assert info["thread_uid"] != old["thread_uid"]
    assert (await at.thread.messages())[0]["content"][0]["text"] == "anew"
    assert [each["version"] for each in await at.thread.history()][-1] == 1
    assert await at.thread.state() == {}
    with refused("checkpoint_not_found"):
        await at.thread.rewind(at.checkpoint)
    assert turn.run_id.startswith(info["thread_uid"])


async def test_a_run_its_stream_and_its_watchers_end_with_thread_not_found(world: World) -> None:
    at = await standing(world, "running")
    watch, following = at.thread.watch(), at.thread.watch(follow=True)
    await watch.until("run_started")
    await following.until("run_started")
    assert await at.thread.delete() is True
    for reader in (at.run, watch, following):
        assert reader is not None
        with refused("thread_not_found"):
            await reader.turn()


async def test_those_who_wait_for_the_thread_end_with_thread_not_found(world: World) -> None:
    at = await standing(world, "running")
    send, retry = at.thread.stream("two"), at.thread.stream_retry()
    await send.until("run_queued")
    await retry.until("run_queued")
    rewind = asyncio.create_task(at.thread.rewind(at.checkpoint))
    await world.waiters(3)
    await at.thread.delete()
    for waiting in (send, retry):
        with refused("thread_not_found"):
            await waiting.turn()
    with refused("thread_not_found"):
        await rewind


async def test_the_run_writes_nothing_more(world: World) -> None:
    stubborn = Stubborn()
    world.agent(ask("hold"), "ok", tools=[stubborn.hold])
    thread = await world.thread()
    run = thread.stream()
    await stubborn.gate.wait()
    await thread.delete()
    with refused("thread_not_found"):
        await run.turn()
    stubborn.late.open()
    await thread.send("anew")
    texts = [part.get("text") for each in await thread.messages() for part in each["content"]]
    assert "late" not in texts
    assert texts[0] == "anew"


async def test_a_delete_never_waits(world: World) -> None:
    at = await standing(world, "running", on_busy="wait", busy_timeout=60)
    async with asyncio.timeout(5):
        assert await at.thread.delete() is True


async def test_a_new_thread_under_the_id_can_begin_before_the_old_run_has_ended(world: World) -> None:
    stubborn = Stubborn()
    world.tune(cancel_grace_s=30.0)
    world.agent(ask("hold"), "anew", tools=[stubborn.hold])
    thread = await world.thread()
    run = thread.stream()
    await stubborn.gate.wait()
    await thread.delete()
    with refused("thread_not_found"):
        await run.turn()
    assert (await thread.send()).text == "anew"
    assert (await thread.info())["run"] is None
    stubborn.late.open()
    assert (await thread.send()).text == "anew"
    assert [each["version"] for each in await thread.history()] == [4, 3, 2, 1]


async def test_the_end_of_the_old_run_is_not_told_to_readers_of_the_new_thread(world: World) -> None:
    stubborn, anew = Stubborn(), Gate()
    world.tune(cancel_grace_s=30.0)
    world.agent(ask("hold"), [anew, "anew"], tools=[stubborn.hold])
    thread = await world.thread()
    await thread.stream().until("tool_call_started")
    await stubborn.gate.wait()
    old = world.storage.live[ThreadKey("", "t")]
    await thread.delete()
    run = thread.stream()
    await anew.wait()
    watch = thread.watch(follow=True)
    await watch.until("run_started")
    stubborn.late.open()
    await asyncio.shield(old.ended)
    anew.open()
    assert (await run.turn()).text == "anew"
    await watch.until("run_completed")
    await watch.leave()


async def test_deleting_again_says_that_there_was_nothing(world: World) -> None:
    at = await standing(world, "completed")
    assert [await at.thread.delete(), await at.thread.delete()] == [True, False]


async def test_of_two_deletes_at_once_one_says_that_it_existed(world: World) -> None:
    at = await standing(world, "completed")
    assert sorted(await asyncio.gather(at.thread.delete(), at.thread.delete())) == [False, True]


async def test_a_delete_of_another_version_than_expected_is_refused(world: World) -> None:
    at = await standing(world, "completed")
    with refused("version_conflict"):
        await at.thread.delete(expected_version=1)
    assert await at.thread.delete(expected_version=2) is True


async def test_a_delete_does_not_touch_other_threads(world: World) -> None:
    at = await standing(world, "completed")
    other = await world.thread("other")
    await other.send()
    before = await other.messages()
    await at.thread.delete()
    assert await other.messages() == before


async def test_a_watch_of_the_old_thread_does_not_go_on_with_the_new_one(world: World) -> None:
    at = await standing(world, "completed")
    uid = (await at.thread.info())["thread_uid"]
    await at.thread.delete()
    with refused("thread_not_found", thread_uid=uid) as gone:
        await at.thread.watch(thread_uid=uid).turn()
    assert "it was deleted" in str(gone.value)
    await at.thread.send()
    present = (await at.thread.info())["thread_uid"]
    with refused("thread_not_found", thread_uid=uid, present_uid=present) as replaced:
        await at.thread.watch(thread_uid=uid).turn()
    assert "the id names another thread now" in str(replaced.value)
    assert "watch that one from version 0" in str(replaced.value)
    with refused("thread_not_found", present_uid=present):
        await at.thread.watch(thread_uid=uid, run_id=f"{uid}.r1").turn()
