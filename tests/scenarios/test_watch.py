"""Watch: what was missed, from the log; the replay says what was said live."""

from __future__ import annotations

import pytest

from tests.scenarios.eventful import eventful, logged
from tests.scenarios.heads import standing
from tests.scenarios.world import World, refused


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


@pytest.mark.parametrize("after", [0, 1, 2, 3])
async def test_a_version_has_one_last_event_whatever_the_head_is(world: World, after: int) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send()
    await thread.update_state({"a": 1})
    for head in (3, 4):
        seen = (await thread.watch(after).turn()).events
        for version in {event.version for event in seen}:
            flags = [event.last for event in seen if event.version == version]
            assert flags == [False] * (len(flags) - 1) + [True]
        assert [event.version for event in seen if event.last] == [*range(min(after + 1, head), head + 1)]
        assert seen[-1].type in ("run_completed", "run_failed")
        await thread.rewind((await thread.history())[-1]["id"])
