"""Sweeps of several servers on one database: each thread goes once, and what one server uses the others leave alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from clew_engine import Retention, Retired
from clew_storage import ThreadKey
from tests.scenarios.scripts import Gate, ScriptedModel
from tests.scenarios.world import World, refused

Make = Callable[[], World]
OLD = Retention({"completed": 60.0, "failed": 60.0, "interrupted": 60.0})


async def retire(world: World, policy: Retention) -> list[Retired]:
    """One sweep."""
    return [each async for each in world.storage.retire(policy)]


def serving(make: Make, *answers: object) -> World:
    """A server whose model answers so."""
    world = make()
    world.agent(model=ScriptedModel(*answers))  # type: ignore[arg-type]
    return world


async def test_of_two_sweeps_at_once_each_thread_is_deleted_and_counted_once(server: Make) -> None:
    worlds = [serving(server, "ok") for _ in range(2)]
    names = [f"t{number:02}" for number in range(50)]
    for number, name in enumerate(names):
        await (await worlds[number % 2].thread(name)).send()
    for world in worlds:
        world.clock.advance(3600)
    found = await asyncio.gather(*(retire(world, OLD) for world in worlds for _ in range(2)))
    assert sorted(each.thread_id for part in found for each in part) == names
    assert [await retire(world, OLD) for world in worlds] == [[], []]


async def test_of_two_trims_at_once_each_thread_is_trimmed_once(server: Make) -> None:
    worlds = [serving(server, "ok") for _ in range(2)]
    threads = [await worlds[0].thread(f"t{number}") for number in range(8)]
    for thread in threads:
        for _ in range(3):
            await thread.send()
    found = await asyncio.gather(*(retire(world, Retention(keep_last=2)) for world in worlds))
    assert sorted(each.thread_id for part in found for each in part) == [thread.id for thread in threads]
    for thread in threads:
        assert [each["version"] for each in await thread.history()] == [6, 5]
        assert len(await thread.messages()) == 6


async def test_a_thread_that_another_server_runs_is_left_alone(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, "one", [gate, "two"]), serving(server, "ok")
    thread = await here.thread()
    await thread.send()
    run = thread.stream()
    await gate.wait()
    there.clock.advance(3600)
    assert await retire(there, Retention(OLD.delete_after, keep_last=1)) == []
    gate.open()
    assert (await run.turn()).text == "two"
    assert [each.oldest_version for each in await retire(there, Retention(keep_last=1))] == [4]
    # The server that ran it remembers it from before, and goes on.
    assert (await thread.send("again")).status == "completed"
    assert [each["version"] for each in await thread.history()] == [6, 5, 4]


async def test_a_follower_on_another_server_is_told_of_the_end(server: Make) -> None:
    here, there = serving(server, "ok"), serving(server, "ok")
    thread = await here.thread()
    await thread.send()
    follower = thread.watch(follow=True)
    await follower.until("run_completed")
    there.clock.advance(3600)
    assert [each.thread_id for each in await retire(there, OLD)] == ["t"]
    with refused("thread_not_found"):
        await follower.turn()


async def test_leases_on_threads_that_are_gone_are_forgotten_and_others_kept(server: Make) -> None:
    here = serving(server, "ok")
    gone, kept = await here.thread("gone"), await here.thread("kept")
    for thread in (gone, kept):
        await thread.send()
    leases = here.storage.backend.leases
    old = await leases.acquire(ThreadKey("", "gone"), purpose="run", wait_s=0)
    await leases.release(old)
    here.clock.advance(3600)
    await gone.delete()
    with refused("resume_invalid"):
        await (await here.thread("never")).retry()
    assert (await here.storage.backend.retention.forget_leases(after=None, limit=10))[0] == 2
    assert (await here.storage.backend.retention.forget_leases(after=None, limit=10))[0] == 0
    assert (await leases.acquire(ThreadKey("", "gone"), purpose="run", wait_s=0)).epoch > old.epoch
    assert (await kept.send()).status == "completed"
