"""Watch: what happens, without a gap, a repeat or a hole; and readers that do not keep up."""

from __future__ import annotations

import asyncio

from clew_engine.events import TextDelta
from clew_engine.hub import Subscription
from clew_engine.watch import watch_stream
from clew_storage import ThreadKey
from tests.scenarios.eventful import eventful, logged
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate, ask, breathe, unavailable
from tests.scenarios.world import World, head_of, refused


async def test_replayed_then_live_there_is_no_gap_and_no_repeat(world: World) -> None:
    gate = Gate()
    world.agent("one", [gate, "two"])
    thread = await world.thread()
    first = await thread.send("first")
    run = thread.stream("second")
    await gate.wait()
    watch = thread.watch()
    await watch.until("run_started", 2)
    gate.open()
    second = await run.turn()
    assert (await watch.turn()).logged == first.logged + second.logged


async def test_a_reader_that_joins_in_mid_stream_gets_the_text_so_far_at_offset_0(world: World) -> None:
    gate = Gate()
    world.agent(["Zwölf ", "Boxkämpfer", gate, " jagen"])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    await run.until("text_delta", 2)
    watch = thread.watch()
    joined = await watch.until("text_delta")
    assert (joined.data["offset"], joined.data["text"]) == (0, "Zwölf Boxkämpfer")
    gate.open()
    turn = await watch.turn()
    assert [(event.data["offset"], event.data["text"]) for event in turn.of("text_delta")] == [
        (0, "Zwölf Boxkämpfer"),
        (18, " jagen"),
    ]
    await run.turn()


async def test_a_reader_that_falls_behind_by_versions_misses_no_text_of_the_message_under_way(here: World) -> None:
    gate = Gate()

    def note() -> str:
        return "noted"

    here.agent([ask("note")] * 3, ["a", "b", gate, "c"], tools=[note])
    thread = await here.thread()
    await thread.update(name="made")
    stream = watch_stream(here.storage, ThreadKey("", "t"), follow=True)
    batches = stream.batches()
    reading = asyncio.ensure_future(anext(batches))
    run = thread.stream()
    texts = [each.payload for each in await reading if isinstance(each.payload, TextDelta)]
    await gate.wait()
    await run.until("text_delta", 2)
    while sum(len(delta.text) for delta in texts) < 2:
        texts += [each.payload for each in await anext(batches) if isinstance(each.payload, TextDelta)]
    gate.open()
    turn = await run.turn()
    while sum(len(delta.text) for delta in texts) < 3:
        texts += [each.payload for each in await anext(batches) if isinstance(each.payload, TextDelta)]
    assert texts[0].offset == 0
    assert "".join(delta.text for delta in texts) == turn.text == "abc"
    await stream.aclose()


async def test_deltas_of_a_watch_have_no_hole_behind_results_that_commit_together(world: World) -> None:
    def note() -> str:
        return "noted"

    world.agent([ask("note")] * 6, ["a", "b", "c"], tools=[note])
    thread = await world.thread()
    await thread.update(name="made")
    watch = thread.watch(follow=True)
    run = await thread.send()
    await watch.until("run_completed")
    deltas = [(event.data["offset"], event.data["text"]) for event in watch.seen if event.type == "text_delta"]
    assert "".join(text for _, text in deltas) in ("", "abc")
    assert not deltas or deltas[0][0] == 0
    assert [
        event for event in watch.seen if event.version and event.type in {each.type for each in run.logged}
    ] == run.logged
    await watch.leave()


async def test_follow_stays_for_later_runs(world: World) -> None:
    world.agent("one", "two")
    thread = await world.thread()
    first = await thread.send("first")
    watch = thread.watch(follow=True)
    await watch.until("run_completed")
    second = await thread.send("second")
    await watch.until("run_completed", 2)
    assert not watch.over
    assert [event for event in watch.seen if event.type != "text_delta"] == first.logged + second.logged
    await watch.leave()


async def test_a_watch_tells_that_a_call_is_queued(world: World) -> None:
    at = await standing(world, "running")
    watch = at.thread.watch()
    await watch.until("run_started")
    waiting = at.thread.stream("two")
    await waiting.until("run_queued")
    assert (await watch.until("run_queued")).data == {"ahead": 0}
    await at.finish()
    await waiting.turn()


async def test_a_discarded_answer_is_told_and_the_next_comes_under_another_id(world: World) -> None:
    world.agent(["half", unavailable()], "whole")
    thread = await world.thread()
    turn = await thread.send()
    first, second = turn.of("text_delta")
    (discarded,) = turn.of("message_discarded")
    assert discarded.data == {"message_id": first.data["message_id"], "code": "model_unavailable"}
    assert first.data["message_id"] != second.data["message_id"]
    assert (await thread.messages())[-1]["id"] == second.data["message_id"]


async def test_live_text_is_what_the_message_says_in_the_end(world: World) -> None:
    world.agent(["one ", "two ", "three"])
    thread = await world.thread()
    turn = await thread.send()
    assert "".join(event.data["text"] for event in turn.of("text_delta")) == turn.text == "one two three"
    assert [event.data["offset"] for event in turn.of("text_delta")] == [0, 4, 8]


async def test_a_heartbeat_comes_when_nothing_happens(world: World) -> None:
    world.tune(heartbeat_s=0.02)
    at = await standing(world, "running")
    watch = at.thread.watch()
    beat = await watch.until("heartbeat")
    assert (beat.version, beat.last) == (1, False)
    assert at.run is not None
    await at.run.until("heartbeat")
    await at.finish()


async def test_a_reader_that_does_not_keep_up_is_cut_with_its_cursor_and_holds_no_run_back(here: World) -> None:
    here.tune(reader_bytes=2000)
    here.agent("first", ["word ", breathe] * 100)
    thread = await here.thread()
    await thread.send()
    slow = here.storage.hub.subscribe(ThreadKey("", "t"))
    slow.start_at(2)
    watch = await thread.stream("second").turn()
    assert watch.status == "completed", "a reader that reads is not cut"
    with refused("stream_cut", version="2"):
        while True:
            await slow.take(1)


async def test_a_cut_reader_goes_on_after_its_cursor(here: World) -> None:
    thread, turns = await eventful(here)
    reader = Subscription(1)
    reader.start_at(3)
    reader.cut("test")
    with refused("stream_cut", version="3"):
        await reader.take(1)
    replay = await thread.watch(3).turn()
    assert list(replay.events) == [event for event in logged(turns) if event.version > 3]


async def test_a_read_and_a_watch_after_its_version_have_no_gap(world: World) -> None:
    gate = Gate()
    world.agent([gate, "ok"])
    thread = await world.thread()
    run = thread.stream()
    await gate.wait()
    version = (await thread.info())["version"]
    gate.open()
    turn = await run.turn()
    replay = await thread.watch(version).turn()
    assert list(replay.events) == [event for event in turn.logged if event.version > version]
    assert replay.version == (await head_of(thread))["version"]
