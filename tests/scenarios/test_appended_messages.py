"""Messages that are added at the end of a thread from outside a run, with ids, places and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.world import World, head_of, refused, snapshot


async def test_messages_are_added_in_their_order_with_ids_and_metadata(world: World) -> None:
    thread = await world.thread()
    await thread.send("hello")
    ids = await thread.append_messages(
        [
            {"role": "user", "content": "one", "metadata": {"own": 1}},
            {"role": "assistant", "content": [{"type": "text", "text": "two"}], "id": "mine"},
            {"role": "system", "content": "three"},
        ],
        metadata={"batch": "b"},
    )
    assert ids == ["m3.0", "mine", "m3.2"]
    added = (await thread.messages())[2:]
    assert [(each["id"], each["role"], each["metadata"]) for each in added] == [
        ("m3.0", "user", {"own": 1}),
        ("mine", "assistant", {"batch": "b"}),
        ("m3.2", "system", {"batch": "b"}),
    ]
    assert [each["position"] for each in added] == [2, 3, 4]
    head = await head_of(thread)
    assert (head["source"], head["status"], head["version"]) == ("update", "completed", 3)
    assert (await thread.message("mine"))["content"][0]["text"] == "two"


async def test_the_model_reads_what_was_added(world: World) -> None:
    model = world.agent("ok")
    thread = await world.thread()
    await thread.append_messages([{"role": "user", "content": "earlier"}, {"role": "assistant", "content": "yes"}])
    assert (await head_of(thread))["status"] == "completed"
    await thread.send("now")
    assert model.heard() == [("user", "earlier"), ("assistant", "yes"), ("user", "now")]


async def test_an_id_that_the_thread_has_is_refused_and_nothing_is_added(world: World) -> None:
    thread = await world.thread()
    await thread.append_messages([{"role": "user", "content": "one", "id": "mine"}])
    before = await snapshot(thread)
    with refused("version_conflict", message_id="mine"):
        await thread.append_messages(
            [{"role": "user", "content": "two"}, {"role": "user", "content": "3", "id": "mine"}]
        )
    assert await snapshot(thread) == before


async def test_an_id_off_the_line_is_taken_too_and_that_of_a_deleted_message_is_free(world: World) -> None:
    thread = await world.thread()
    await thread.send()
    first = await head_of(thread)
    await thread.append_messages([{"role": "user", "content": "one", "id": "mine"}])
    await thread.rewind(first["id"])
    with refused("version_conflict"):
        await thread.append_messages([{"role": "user", "content": "two", "id": "mine"}])
    await thread.append_messages([{"role": "user", "content": "two", "id": "yours"}])
    await thread.delete_message("yours")
    assert await thread.append_messages([{"role": "user", "content": "three", "id": "yours"}]) == ["yours"]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([], "argument_invalid"),
        ([{"role": "user", "content": ""}], "argument_invalid"),
        ([{"role": "user", "content": []}], "argument_invalid"),
        ([{"role": "user"}], "argument_invalid"),
        ([{"role": "tool", "content": "x"}], "argument_invalid"),
        ([{"role": "critic", "content": "x"}], "argument_invalid"),
        ([{"content": "x"}], "argument_invalid"),
        ([{"role": "user", "content": "x", "id": "m1.0"}], "id_invalid"),
        ([{"role": "user", "content": "x", "id": "m007.00"}], "id_invalid"),
        ([{"role": "user", "content": "x", "id": "a b"}], "id_invalid"),
        (
            [{"role": "user", "content": "x", "id": "a"}, {"role": "user", "content": "y", "id": "a"}],
            "argument_invalid",
        ),
        ([{"role": "user", "content": "x", "metadata": {"a": float("inf")}}], "state_invalid"),
        ([{"role": "user", "content": "x", "metadata": {"a": 2**64}}], "state_invalid"),
        ([{"role": "user", "content": "x", "metadata": {"a": "x" * 65_536}}], "argument_invalid"),
        ([{"role": "user", "content": [{"type": "tool_call", "id": "a"}]}], "argument_invalid"),
        ([{"role": "user", "content": "x"}] * 501, "argument_invalid"),
        ([{"role": "user", "content": "x" * 1_900_000}] * 2, "state_too_large"),
    ],
)
async def test_what_cannot_be_added_leaves_nothing_behind(world: World, messages: list[Any], code: str) -> None:
    thread = await world.thread()
    with refused(code):
        await thread.append_messages(messages)
    with refused("thread_not_found"):
        await thread.info()


async def test_the_same_append_again_gives_the_same_ids(world: World) -> None:
    thread = await world.thread()
    messages = [{"role": "user", "content": "one"}]
    assert await thread.append_messages(messages, request_id="r") == ["m1.0"]
    await thread.send()
    assert await thread.append_messages(messages, request_id="r") == ["m1.0"]
    assert len(await thread.messages()) == 3
    with refused("request_id_reused"):
        await thread.append_messages([{"role": "user", "content": "two"}], request_id="r")


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x", "metdata": {"a": 1}},
        {"role": "user", "content": [{"type": "text", "text": "x", "metdata": 1}]},
    ],
)
async def test_a_key_that_nothing_reads_is_refused_by_its_name(world: World, message: dict[str, Any]) -> None:
    thread = await world.thread()
    with refused("argument_invalid") as raised:
        await thread.append_messages([message])
    assert "'metdata'" in str(raised.value)
    assert (await thread.history()) == []


async def test_what_messages_show_can_be_added_elsewhere(world: World) -> None:
    world.agent("ok")
    thread, other = await world.thread(), await world.thread("other")
    await thread.send("hello")
    said = [{**message, "id": ""} for message in await thread.messages()]
    await other.append_messages(said)
    assert [message["content"] for message in await other.messages()] == [message["content"] for message in said]
