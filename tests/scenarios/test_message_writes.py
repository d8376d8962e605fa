"""Messages that are changed from outside a run, in their place. The model sees what is there."""

from __future__ import annotations

from typing import Any, cast

import pytest

import clew
from clew_engine import reads
from clew_storage import ThreadKey
from tests.scenarios.handles import PlayedThread
from tests.scenarios.scripts import Counted, Gate, ask, rejected
from tests.scenarios.world import World, head_of, refused, snapshot, texts, where_calls_are_open


async def test_an_edited_message_keeps_its_id_and_its_place(world: World) -> None:
    model = world.agent("one", "two", "three")
    thread = await world.thread()
    await thread.send("first")
    await thread.send("second")
    before = await thread.messages()
    written = await thread.update_message("m1.0", "changed", metadata={"by": "ada"})
    assert (written["source"], written["version"]) == ("update", 5)
    after = await thread.messages()
    assert [(each["id"], each["position"]) for each in after] == [(each["id"], each["position"]) for each in before]
    assert after[1:] == before[1:]
    assert after[0]["content"] == [{"type": "text", "text": "changed"}]
    assert (after[0]["metadata"], after[0]["version"]) == ({"by": "ada"}, 5)
    assert after[0]["created_at_ms"] == before[0]["created_at_ms"]
    await thread.send("third")
    assert model.heard()[0] == ("user", "changed")


async def test_a_rewind_to_before_an_edit_shows_what_was_there(world: World) -> None:
    model = world.agent("ok")
    thread = await world.thread()
    await thread.send("first")
    before = await head_of(thread)
    await thread.update_message("m1.0", "changed")
    await thread.rewind(before["id"])
    assert (await texts(thread))[0] == "first"
    await thread.send("second")
    assert model.heard()[0] == ("user", "first")


async def test_metadata_alone_is_changed_and_taken_away(world: World) -> None:
    thread = await world.thread()
    await thread.send("first")
    await thread.update_message("m1.0", metadata={"a": [1.5, None]})
    message = await thread.message("m1.0")
    assert (message["metadata"], message["content"][0]["text"]) == ({"a": [1.5, None]}, "first")
    await thread.update_message("m1.0", "second")
    assert (await thread.message("m1.0"))["metadata"] == {"a": [1.5, None]}
    await thread.update_message("m1.0", metadata={})
    assert "metadata" not in await thread.message("m1.0")
    with refused("argument_invalid"):
        await thread.update_message("m1.0")
    with refused("argument_invalid"):
        await thread.update_message("m1.0", "")


async def test_an_edited_answer_keeps_its_calls_and_an_edited_result_its_call(world: World) -> None:
    model = world.agent(["let me", ask("count", n=1)], "ok", tools=[Counted().count])
    thread = await world.thread()
    await thread.send()
    _, asked, result, _ = await thread.messages()
    await thread.update_message(asked["id"], "I look")
    await thread.update_message(result["id"], "twelve")
    _, edited, given, _ = await thread.messages()
    assert edited["content"] == [{"type": "text", "text": "I look"}, asked["content"][1]]
    assert given["content"][0]["content"] == [{"type": "text", "text": "twelve"}]
    assert given["content"][0]["tool_call_id"] == asked["content"][1]["id"]
    assert given["content"][0]["outcome"] == "done"
    assert "structured" not in given["content"][0]
    await thread.send("again")
    assert model.heard()[1:3] == [("assistant", "I look"), ("done", "twelve")]


@pytest.mark.parametrize("verb", ["update", "delete"])
async def test_what_is_not_there_is_said_so(world: World, verb: str) -> None:
    thread = await world.thread()

    async def change(message_id: str) -> Any:
        if verb == "update":
            return await thread.update_message(message_id, "x")
        return await thread.delete_message(message_id)

    with refused("thread_not_found"):
        await change("m1.0")
    await thread.send()
    first = await head_of(thread)
    await thread.send("off the line")
    await thread.rewind(first["id"])
    before = await snapshot(thread)
    for missing in ("m3.0", "m1.7", "m99.0", "mine"):
        with refused("message_not_found", message_id=missing):
            await change(missing)
    with refused("version_conflict"):
        await thread.update_message("m1.0", "x", expected_version=1)
    assert await snapshot(thread) == before


async def test_the_same_change_again_is_made_once(world: World) -> None:
    thread = await world.thread()
    await thread.send()
    first = await thread.update_message("m1.0", "a", request_id="r")
    await thread.update_message("m1.0", "b")
    assert await thread.update_message("m1.0", "a", request_id="r") == first
    assert (await texts(thread))[0] == "b"
    gone = await thread.delete_message("m1.0", request_id="d")
    assert await thread.delete_message("m1.0", request_id="d") == gone == ["m1.0"]


async def test_a_message_said_meanwhile_does_not_hide_a_call_that_is_open(world: World) -> None:
    counted = Counted()
    model = world.agent(ask("count", n=1), "ok", tools=[counted.count])
    thread = await world.thread()
    await thread.send()
    await thread.rewind(await where_calls_are_open(thread))
    await thread.append_messages([{"role": "user", "content": "and hurry"}])
    assert (await thread.retry()).text == "ok"
    assert counted.calls == [1, 1]
    assert model.heard() == [("user", "hello"), ("assistant", ""), ("done", "1"), ("user", "and hurry")]


@pytest.mark.parametrize("change", ["append", "update", "delete"])
async def test_text_of_a_cancelled_run_is_an_ordinary_message_once_it_was_dealt_with(world: World, change: str) -> None:
    gate = Gate()
    model = world.agent(["half", gate, "whole"], "whole")
    thread = await world.thread()
    run = thread.stream("hello")
    await gate.wait()
    await thread.cancel()
    await run.turn()
    half = (await thread.messages())[-1]
    assert half["finish_reason"] == "cancelled"
    if change == "append":
        await thread.append_messages([{"role": "user", "content": "go on"}])
        expected = [("user", "hello"), ("assistant", "half"), ("user", "go on")]
    elif change == "update":
        await thread.update_message(half["id"], "half, mended")
        expected = [("user", "hello"), ("assistant", "half, mended")]
    else:
        await thread.delete_message(half["id"])
        expected = [("user", "hello")]
    assert (await thread.retry()).text == "whole"
    assert model.heard() == expected
    assert [text for _, text in expected] + ["whole"] == await texts(thread)


async def test_usage_of_a_run_counts_an_edited_answer_once(world: World) -> None:
    world.agent(ask("count", n=1), rejected(), "ok", tools=[Counted().count])
    thread = await world.thread()
    assert (await thread.send()).status == "failed"
    asked = (await thread.messages())[1]
    await thread.update_message(asked["id"], "edited")
    turn = await thread.retry()
    assert turn.end.data["tokens"] == 10


async def test_watchers_are_told_what_was_added_changed_and_deleted(world: World) -> None:
    thread = await world.thread()
    await thread.send()
    reader = thread.watch(2, follow=True)
    await thread.append_messages([{"role": "user", "content": "new"}])
    await thread.update_message("m3.0", "newer")
    await thread.delete_message("m1.0")
    await reader.until("checkpoint_written", 3)
    told = [event.data for event in reader.seen if event.type == "checkpoint_written"]
    assert [each["messages"] for each in told] == [["m3.0"], ["m3.0"], []]
    assert [each["deleted"] for each in told] == [[], [], ["m1.0"]]
    await reader.leave()
    replay = await thread.watch(0).turn()
    assert [event.data["messages"] for event in replay.of("checkpoint_written")] == [
        [], ["m2.0"], ["m3.0"], ["m3.0"], []
    ]  # fmt: skip


async def test_an_edited_result_is_no_call_that_finished_again(world: World) -> None:
    world.agent(ask("count", n=1), "ok", tools=[Counted().count])
    thread = await world.thread()
    turn = await thread.send()
    result = (await thread.messages())[2]
    await thread.update_message(result["id"], "other")
    again = await thread.watch(turn.version).turn()
    assert again.of("tool_call_finished") == []
    assert again.of("checkpoint_written")[0].data["messages"] == [result["id"]]


@pytest.mark.parametrize("world", ["memory-grpc", "sqlite-grpc"], indirect=True)
async def test_a_clients_transcript_follows_every_change(world: World) -> None:
    world.agent("one", ["let me", ask("count", n=1)], "two", "three", tools=[Counted().count])
    thread = await world.thread()
    assert isinstance(thread, PlayedThread)
    transcript = clew.Transcript()
    for step in range(5):
        if step == 0:
            await thread.send("first")
            await thread.send("second")
        elif step == 1:
            await thread.update_message("m1.0", "changed")
        elif step == 2:
            await thread.append_messages([{"role": "user", "content": "more"}])
        elif step == 3:
            await thread.delete_message((await thread.messages())[3]["id"])
        else:
            await thread.delete_message("m1.0")
        async for event in thread.inner.watch(after_version=transcript.version):
            transcript.apply(cast("clew.Event", event))
        assert transcript.messages == await thread.messages(reasoning=True)


async def test_a_message_of_another_thread_is_not_touched(here: World) -> None:
    thread, other = await here.thread(), await here.thread("u")
    await thread.send("mine")
    await other.send("yours")
    await thread.delete_message("m1.0")
    assert (await texts(other))[0] == "yours"
    assert (await reads.get_message(here.storage, ThreadKey("", "u"), "m1.0"))[0].text == "yours"
