"""Watch: what was missed, from the log, and then what happens; the replay says what was said live."""

from __future__ import annotations

import asyncio

import pytest

from clew_engine.events import TextDelta
from clew_engine.hub import Subscription
from clew_engine.watch import watch_stream
from clew_storage import ThreadKey
from tests.scenarios.heads import refund, standing
from tests.scenarios.scripts import Gate, ask, breathe, rejected, unavailable
from tests.scenarios.sights import Seen, Turn
from tests.scenarios.world import Handle, World, head_of, refused


async def eventful(world: World) -> tuple[Handle, list[Turn]]:
    """A thread on which everything that is logged has happened, and what its callers saw."""

    def note() -> str:
        return "noted"

    calls = [ask("note"), ask("refund", amount=1), ask("refund", amount=2)]
    world.agent(calls, rejected(), "one", "two", "three", tools=[note, refund], approve=["refund"])
    thread = await world.thread()
    turns = [await thread.send("first")]
    one, other = turns[0].approvals
    turns.append(await thread.decide({one: True}))
    turns.append(await thread.decide({other: {"reject": "no"}}))
    turns.append(await thread.retry())
    turns.append(await thread.send("second"))
    return thread, turns


def logged(turns: list[Turn]) -> list[Seen]:
    """What is in the log of what the callers saw."""
    return [event for turn in turns for event in turn.logged]


async def test_a_replay_says_what_was_said_live(world: World) -> None:
    thread, turns = await eventful(world)
    replay = await thread.watch().turn()
    assert list(replay.events) == logged(turns)


async def test_a_replay_yields_exactly_the_logged_kinds(world: World) -> None:
    thread, _ = await eventful(world)
    replay = await thread.watch().turn()
    assert list(replay.events) == replay.logged


async def test_a_watch_after_a_version_begins_behind_it(world: World) -> None:
    thread, turns = await eventful(world)
    for version in range(1, (await thread.info())["version"]):
        replay = await thread.watch(version).turn()
        assert list(replay.events) == [event for event in logged(turns) if event.version > version]


async def test_the_events_of_a_version_come_in_order_and_the_last_says_so(world: World) -> None:
    thread, _ = await eventful(world)
    replay = await thread.watch().turn()
    order = ["run_started", "tool_call_finished", "approval_requested", "checkpoint_written", "tool_call_started"]
    for version in {event.version for event in replay.events}:
        events = [event for event in replay.events if event.version == version]
        ranks = [order.index(event.type) if event.type in order else len(order) for event in events]
        assert ranks == sorted(ranks)
        assert [event.last for event in events] == [False] * (len(events) - 1) + [True]


async def test_a_watch_of_a_thread_at_rest_says_its_terminal_again(world: World) -> None:
    thread, turns = await eventful(world)
    replay = await thread.watch((await thread.info())["version"]).turn()
    assert list(replay.events) == [turns[-1].end]


@pytest.mark.parametrize("head", ["completed", "suspended", "failed", "cancelled"])
async def test_the_terminal_of_a_rewound_head_is_given_too(world: World, head: str) -> None:
    at = await standing(world, head)
    await at.thread.rewind(at.checkpoint)
    info = await at.thread.info()
    turn = await at.thread.watch(info["version"]).turn()
    assert turn.status == info["status"]
    assert turn.approvals == [each["id"] for each in await at.thread.approvals()]
    if head == "completed":
        assert turn.text == "ok"


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


async def test_a_watch_of_a_run_ends_with_its_first_terminal_after_the_cursor(world: World) -> None:
    thread, turns = await eventful(world)
    run_id = turns[0].run_id
    assert (await thread.watch(run_id=run_id).turn()).end == turns[0].end
    replay = await thread.watch(turns[0].version, run_id=run_id).turn()
    assert replay.end == turns[1].end
    assert {event.run_id for event in replay.events} == {run_id}


async def test_a_watch_of_a_run_beyond_its_end_gives_its_last_word(world: World) -> None:
    thread, turns = await eventful(world)
    replay = await thread.watch((await thread.info())["version"], run_id=turns[0].run_id).turn()
    assert replay.end == turns[3].end


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


async def test_a_fork_says_its_parent_and_abandoned_writes_stay_in_the_replay(world: World) -> None:
    thread, turns = await eventful(world)
    target = (await thread.history())[2]
    await thread.rewind(target["id"])
    await thread.send("third")
    replay = await thread.watch().turn()
    versions = [event.version for event in replay.of("checkpoint_written")]
    assert versions == list(range(1, len(versions) + 1)), "the log in version order, abandoned writes included"
    fork = next(event for event in replay.of("checkpoint_written") if event.data["source"] == "fork")
    assert fork.data["parent"] == target["version"]
    assert list(replay.events)[: len(logged(turns))] == logged(turns)


async def test_a_watch_tells_that_a_call_is_queued(world: World) -> None:
    at = await standing(world, "running")
    watch = at.thread.watch()
    await watch.until("run_started")
    waiting = at.thread.stream("two")
    await waiting.until("run_queued")
    assert (await watch.until("run_queued")).data == {"ahead": 0}
    await at.finish()
    await waiting.turn()


async def test_another_uid_is_thread_not_found(world: World) -> None:
    thread, _ = await eventful(world)
    with refused("thread_not_found"):
        await thread.watch(thread_uid="0" * 16).turn()
    assert (await thread.watch(thread_uid=(await thread.info())["thread_uid"]).turn()).status == "completed"


async def test_a_cursor_beyond_the_head_is_refused(world: World) -> None:
    thread, _ = await eventful(world)
    with refused("argument_invalid"):
        await thread.watch((await thread.info())["version"] + 1).turn()
    with refused("argument_invalid"):
        await thread.watch(-1).turn()


async def test_a_watch_of_a_thread_or_run_that_is_not_there_is_refused(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    with refused("thread_not_found"):
        await thread.watch().turn()
    turn = await thread.send()
    with refused("run_not_found"):
        await thread.watch(run_id=turn.run_id.replace(".r1", ".r2")).turn()
    with refused("run_not_found"):
        await thread.watch(run_id="0" * 16 + ".r1").turn()


async def test_a_watch_of_an_interrupted_run_says_so(world: World) -> None:
    at = await standing(world, "interrupted")
    with refused("thread_interrupted"):
        await at.thread.watch().turn()


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
