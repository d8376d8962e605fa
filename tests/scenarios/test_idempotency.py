"""Request ids: the same call again has its first outcome, and another body under the id is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate, rejected
from tests.scenarios.world import Handle, World, head_of, refused, snapshot


async def test_the_same_send_again_streams_the_first_attempt_from_its_start_to_its_terminal(world: World) -> None:
    model = world.agent("one", "two")
    thread = await world.thread()
    first = await thread.send("hello", request_id="r1")
    await thread.send("other", request_id="r2")
    again = await thread.send("hello", request_id="r1")
    assert list(again.events) == first.logged
    assert len(model.requests) == 2


async def test_the_same_send_while_the_first_runs_joins_it(world: World) -> None:
    gate = Gate()
    model = world.agent(["on", gate, "e"])
    thread = await world.thread()
    first = thread.stream("hello", request_id="r1")
    await gate.wait()
    again = thread.stream("hello", request_id="r1")
    await again.until("text_delta")
    gate.open()
    one, other = await first.turn(), await again.turn()
    assert other.logged == one.logged
    assert len(model.requests) == 1


async def test_the_same_send_while_the_first_waits_for_the_thread_runs_once(world: World) -> None:
    at = await standing(world, "running")
    first = at.thread.stream("two", request_id="r1")
    await first.until("run_queued")
    again = at.thread.stream("two", request_id="r1")
    await at.finish()
    one, other = await first.turn(), await again.turn()
    assert other.logged == one.logged
    asked = [each["content"][0]["text"] for each in await at.thread.messages() if each["role"] == "user"]
    assert asked == ["hello", "two"]


async def test_many_of_the_same_send_at_once_run_once(world: World) -> None:
    model = world.agent("ok")
    thread = await world.thread()
    turns = await asyncio.gather(*(thread.send("hello", request_id="r1") for _ in range(8)))
    assert len({turn.version for turn in turns}) == 1
    assert len(model.requests) == 1


async def test_another_body_under_the_id_is_refused(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send("hello", request_id="r1")
    before = await snapshot(thread)
    for changed in ({"text": "other"}, {"mood": "good"}, {"user_id": "ada"}, {"metadata": {"a": 1}}):
        with refused("request_id_reused"):
            await thread.send(**{"text": "hello", "request_id": "r1", **changed})
    with refused("request_id_reused"):
        await thread.retry(request_id="r1")
    assert await snapshot(thread) == before


async def test_busy_fields_are_no_part_of_the_body(world: World) -> None:
    world.agent("ok")
    first = await (await world.thread()).send("hello", request_id="r1")
    again = await (await world.thread(on_busy="reject", busy_timeout=1)).send("hello", request_id="r1")
    assert again.version == first.version


async def test_a_request_id_belongs_to_its_thread(world: World) -> None:
    model = world.agent("ok")
    await (await world.thread()).send("hello", request_id="r1")
    await (await world.thread("other")).send("something else", request_id="r1")
    assert len(model.requests) == 2


async def test_a_refusal_is_not_recorded(world: World) -> None:
    at = await standing(world, "running", on_busy="reject")
    with refused("thread_busy"):
        await at.thread.send("two", request_id="r1")
    await at.finish()
    assert (await at.thread.send("two", request_id="r1")).text == "ok"


async def test_a_failed_run_is_an_outcome_and_is_not_tried_again(world: World) -> None:
    model = world.agent(rejected(), "ok")
    thread = await world.thread()
    first = await thread.send("hello", request_id="r1")
    assert (await thread.send("hello", request_id="r1")).events == tuple(first.logged)
    assert len(model.requests) == 1


async def test_a_replayed_send_ends_with_the_terminal_of_its_own_attempt(world: World) -> None:
    world.agent(rejected(), "ok")
    thread = await world.thread()
    await thread.send("hello", request_id="r1")
    retry = await thread.retry(request_id="r2")
    assert (await thread.send("hello", request_id="r1")).failure == "model_rejected"
    assert (await thread.retry(request_id="r2")).events == tuple(retry.logged)


async def test_a_decision_again_has_its_first_outcome(world: World) -> None:
    at = await standing(world, "suspended")
    first = await at.thread.decide({at.approval: True}, request_id="r1")
    again = await at.thread.decide({at.approval: True}, request_id="r1")
    assert again.events == tuple(first.logged)
    with refused("request_id_reused"):
        await at.thread.decide({at.approval: False}, request_id="r1")


async def test_a_rewind_again_has_its_first_outcome(world: World) -> None:
    at = await standing(world, "completed")
    first = await at.thread.rewind(at.checkpoint, request_id="r1")
    await at.thread.send("on")
    assert await at.thread.rewind(at.checkpoint, request_id="r1") == first
    assert (await head_of(at.thread))["version"] > first["version"]
    with refused("request_id_reused"):
        await at.thread.rewind(first["id"], request_id="r1")


async def test_a_cancel_again_does_not_cancel_a_later_run(world: World) -> None:
    at = await standing(world, "running")
    first = await at.thread.cancel(request_id="r1")
    gate = at.gate
    assert gate is not None
    gate.reached.clear()
    later = at.thread.stream("again")
    await later.until("run_started")
    assert await at.thread.cancel(request_id="r1") == first
    gate.open()
    assert (await later.turn()).status == "completed"


async def test_a_cancel_of_what_waits_again_has_its_first_outcome(world: World) -> None:
    at = await standing(world, "suspended")
    first = await at.thread.cancel(request_id="r1")
    await at.thread.retry()
    assert await at.thread.cancel(request_id="r1") == first
    assert (await at.thread.info())["status"] == "suspended"


async def test_a_copy_again_has_its_first_outcome(world: World) -> None:
    at = await standing(world, "completed")
    await at.thread.copy("copy", request_id="r1")
    copied = await at.thread.copy("copy", request_id="r1")
    assert len(await copied.history()) == 3
    with refused("request_id_reused"):
        await at.thread.copy("copy", at.checkpoint, request_id="r1")


async def test_an_update_again_changes_nothing(world: World) -> None:
    at = await standing(world, "completed")
    await at.thread.update(name="one", request_id="r1")
    await at.thread.update(name="two")
    assert (await at.thread.update(name="one", request_id="r1"))["name"] == "two"
    with refused("request_id_reused"):
        await at.thread.update(name="three", request_id="r1")


async def test_after_a_delete_an_old_delete_is_true_and_an_old_send_finds_no_thread(world: World) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send("hello", request_id="r1")
    assert await thread.delete(request_id="r2") is True
    assert await thread.delete(request_id="r2") is True
    with refused("thread_not_found"):
        await thread.send("hello", request_id="r1")
    assert await thread.history() == []
    await thread.send("anew")
    assert await thread.delete(request_id="r2") is True
    assert (await thread.info())["version"] == 2, "the old delete does not touch the new thread"
    with refused("thread_not_found"):
        await thread.send("hello", request_id="r1")


REPEATED: dict[str, Callable[[Handle], Awaitable[Any]]] = {
    "send": lambda thread: thread.send("again", request_id="r1"),
    "update": lambda thread: thread.update(name="one", request_id="r1"),
    "update_state": lambda thread: thread.update_state({"a": 1}, request_id="r1"),
    "append_messages": lambda thread: thread.append_messages([{"role": "user", "content": "hi"}], request_id="r1"),
}


@pytest.mark.parametrize("verb", REPEATED)
async def test_a_repeated_call_is_told_that_its_thread_was_deleted_and_what_the_id_names_now(
    world: World, verb: str
) -> None:
    world.agent("ok")
    thread = await world.thread()
    await thread.send("hello")
    await REPEATED[verb](thread)
    await thread.delete()
    with refused("thread_not_found") as gone:
        await REPEATED[verb](thread)
    assert "which has been deleted since; to do it anew, use a new request id" in str(gone.value)
    await thread.send("anew")
    with refused("thread_not_found", present_uid=(await thread.info())["thread_uid"]) as replaced:
        await REPEATED[verb](thread)
    assert "deleted since, and the id names another thread now" in str(replaced.value)


CALLS: dict[str, Callable[[Handle], Awaitable[Any]]] = {
    "update": lambda thread: thread.update(name="one", request_id="r1"),
    "delete": lambda thread: thread.delete(request_id="r1"),
    "copy": lambda thread: thread.copy("copy", request_id="r1"),
    "cancel": lambda thread: thread.cancel(request_id="r1"),
}


@pytest.mark.parametrize("verb", CALLS)
async def test_the_same_call_several_times_at_once_has_one_outcome(world: World, verb: str) -> None:
    at = await standing(world, "suspended")
    found = await asyncio.gather(*(CALLS[verb](at.thread) for _ in range(4)))
    if verb == "delete":
        assert found == [True] * 4
    if verb == "cancel":
        assert len({each["id"] for each in found}) == 1


@pytest.mark.parametrize("request_id", ["x" * 129, "with space", "new\nline", "é", "\x00"])
async def test_a_request_id_is_visible_ascii(world: World, request_id: str) -> None:
    world.agent("ok")
    thread = await world.thread()
    with refused("argument_invalid"):
        await thread.send("hello", request_id=request_id)
    assert await thread.history() == []


async def test_a_send_whose_run_died_and_was_left_behind_by_a_rewind_is_told_so_when_it_comes_again(
    world: World,
) -> None:
    gate = Gate()
    world.agent("ok", [gate, "never said"])
    thread = await world.thread()
    await thread.send("first")
    target = await head_of(thread)
    run = thread.stream("second", request_id="r1")
    await gate.wait()
    await world.interrupt()
    await run.gone()
    await thread.rewind(target["id"])
    with refused("thread_interrupted"):
        await thread.send("second", request_id="r1")
