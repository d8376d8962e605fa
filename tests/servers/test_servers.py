"""What one server does, the others see; and whichever is called, a thread behaves as on one server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from clew_engine.approval_feed import ApprovalFilter
from clew_engine.models import Model
from clew_storage import ThreadKey
from tests.scenarios.scripts import Gate, ScriptedModel, ask
from tests.scenarios.world import World, refused

Make = Callable[[], World]
KEY = ThreadKey("", "t")


def note() -> str:
    """A tool."""
    return "noted"


def serving(make: Make, model: Model, **settings: Any) -> World:
    """A server whose agent has this model."""
    world = make()
    world.agent(model=model, tools=[note], **settings)
    return world


async def test_a_watch_on_another_server_tells_what_the_run_tells(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel("one", [ask("note")], [gate, "two"])), serving(server, ScriptedModel())
    thread = await here.thread()
    first = await thread.send("first")
    run = thread.stream("second")
    await gate.wait()
    watch = (await there.thread()).watch()
    await watch.until("tool_call_finished")
    gate.open()
    second = await run.turn()
    assert (await watch.turn()).logged == first.logged + second.logged


async def test_a_watch_that_follows_goes_on_with_the_runs_of_any_server(server: Make) -> None:
    here, there = serving(server, ScriptedModel("one")), serving(server, ScriptedModel("two"))
    await (await here.thread()).send("first")
    watch = (await there.thread()).watch(follow=True)
    await watch.until("run_completed")
    turns = [await (await each.thread()).send("again") for each in (here, there, here)]
    for number, turn in enumerate(turns, 2):
        assert (await watch.until("run_completed", number)).version == turn.version


async def test_a_run_of_another_server_is_said_to_be_running(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"])), serving(server, ScriptedModel())
    run = (await here.thread()).stream()
    await gate.wait()
    seen = await there.thread()
    assert (await seen.info())["run"]["state"] == "running"
    gate.open()
    await run.turn()
    assert (await seen.info())["status"] == "completed"


async def test_calls_of_all_servers_wait_in_one_queue(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"], "ok")), serving(server, ScriptedModel("ok"))
    run = (await here.thread()).stream("0")
    await gate.wait()
    queued = []
    for number, world in enumerate((there, here, there, here), 1):
        thread = await world.thread()
        queued.append(asyncio.ensure_future(thread.send(f"{number}")))
        await waiting(here, number)
    gate.open()
    await run.turn()
    await asyncio.gather(*queued)
    said = [each["content"][0]["text"] for each in await (await here.thread()).messages() if each["role"] == "user"]
    assert said == ["0", "1", "2", "3", "4"]


async def test_a_busy_thread_is_refused_by_every_server(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"])), serving(server, ScriptedModel())
    run = (await here.thread()).stream()
    await gate.wait()
    with refused("thread_busy"):
        await (await there.thread()).send("second", on_busy="reject")
    gate.open()
    await run.turn()


async def test_a_newer_call_on_another_server_interrupts_the_run(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"])), serving(server, ScriptedModel("newer"))
    run = (await here.thread()).stream()
    await gate.wait()
    newer = await (await there.thread()).send("second", on_busy="interrupt")
    assert newer.text == "newer"
    assert (await run.turn()).failure == "cancelled"


async def test_a_run_is_cancelled_through_any_server(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"])), serving(server, ScriptedModel("again"))
    run = (await here.thread()).stream()
    await gate.wait()
    thread = await there.thread()
    ended = await thread.cancel()
    assert (ended["status"], ended["failure_code"]) == ("failed", "cancelled")
    turn = await run.turn()
    assert (turn.failure, turn.version) == ("cancelled", ended["version"])
    assert (await thread.retry()).text == "again"


async def test_a_delete_on_another_server_ends_run_and_watchers(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "done"])), serving(server, ScriptedModel("new"))
    run = (await here.thread()).stream()
    await gate.wait()
    watch = (await here.thread()).watch()
    await watch.until("run_started")
    thread = await there.thread()
    assert await thread.delete()
    for stream in (run, watch):
        with refused("thread_not_found"):
            await stream.turn()
    gate.open()
    await thread.send("a new one")
    assert [each["source"] for each in await thread.history()] == ["step", "input"]


async def test_of_deciders_on_two_servers_one_wins(server: Make) -> None:
    def model() -> ScriptedModel:
        return ScriptedModel([ask("note")], "done")

    here, there = (serving(server, model(), approve=["note"]) for _ in range(2))
    asked = await (await here.thread()).send()
    (approval,) = asked.approvals
    threads = [await world.thread() for world in (here, there)]
    outcomes = await asyncio.gather(
        *(threads[number % 2].decide({approval: number % 3 > 0}) for number in range(8)), return_exceptions=True
    )
    lost = [each for each in outcomes if isinstance(each, BaseException)]
    assert len(lost) == 7
    assert {getattr(each, "code", each) for each in lost} <= {"approval_already_decided", "resume_invalid"}


async def test_an_approval_that_one_server_left_waiting_is_answered_through_another(server: Make) -> None:
    here = serving(server, ScriptedModel([ask("note")], "done"), approve=["note"])
    asked = await (await here.thread()).send()
    (approval,) = asked.approvals
    there = serving(server, ScriptedModel("done"), approve=["note"])
    assert (await (await there.thread()).decide({approval: True})).text == "done"


async def test_the_inbox_of_one_server_has_what_is_asked_and_answered_on_another(server: Make) -> None:
    here = serving(server, ScriptedModel([ask("note")], "done"), approve=["note"])
    there = serving(server, ScriptedModel())
    await there.storage.open()
    news = there.storage.approval_feed.watch(there.storage, ApprovalFilter())
    assert (await anext(news))[0].snapshot_end
    thread = await here.thread()
    asked = await thread.send()
    (approval,) = asked.approvals
    (told,) = await anext(news)
    assert told.approval is not None
    assert (told.approval.id, told.approval.state) == (approval, "pending")
    await thread.decide({approval: True})
    (told,) = await anext(news)
    assert told.approval is not None
    assert (told.approval.id, told.approval.state) == (approval, "approved")
    await news.aclose()


async def test_the_same_request_on_two_servers_has_one_effect(server: Make) -> None:
    worlds = [serving(server, ScriptedModel("one answer")) for _ in range(2)]
    threads = [await world.thread() for world in worlds]
    turns = await asyncio.gather(*(thread.send("hello", request_id="same") for thread in threads))
    assert turns[0].logged == turns[1].logged
    assert [each["source"] for each in await threads[0].history()] == ["step", "input"]


async def test_an_owner_that_stops_to_renew_is_taken_over_and_writes_nothing_more(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "stale"])), serving(server, ScriptedModel("taken over"))
    run = (await here.thread()).stream()
    await gate.wait()
    await silence(here)
    thread = await there.thread()
    async with asyncio.timeout(10):
        turn = await thread.retry(busy_timeout=10)
    assert turn.text == "taken over"
    gate.open()
    with refused("lease_lost"):
        await run.turn()
    assert [each["source"] for each in await thread.history()] == ["step", "retry", "input"]


async def test_a_watcher_hears_that_the_runs_server_is_gone(server: Make) -> None:
    gate = Gate()
    here, there = serving(server, ScriptedModel([gate, "stale"])), serving(server, ScriptedModel())
    run = (await here.thread()).stream()
    await gate.wait()
    watch = (await there.thread()).watch()
    await watch.until("run_started")
    await silence(here)
    with refused("thread_interrupted"):
        await watch.turn()
    gate.open()
    with refused("lease_lost"):
        await run.turn()


async def waiting(world: World, count: int) -> None:
    """Until that many calls have their place in the queue of all servers."""
    async with asyncio.timeout(20):
        while (await world.storage.backend.threads.glance([KEY]))[KEY].waiting != count:  # noqa: ASYNC110 - no server tells of it
            await asyncio.sleep(0)


async def silence(world: World) -> None:
    """The server renews no lease any more, as one that is paused."""
    session = world.storage.backend._session  # type: ignore[attr-defined]
    await session.keeper.close()
