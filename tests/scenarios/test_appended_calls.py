"""Tool calls that a caller adds with their results: every call in a transcript has exactly one outcome, whoever wrote it."""

from __future__ import annotations

from typing import Any

import pytest

import clew
from tests.scenarios.checks import outcomes
from tests.scenarios.handles import PlayedThread
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask, rejected, unavailable
from tests.scenarios.world import World, refused, snapshot


def calls(*ids: str, text: str = "") -> dict[str, Any]:
    """An assistant asks for calls."""
    said = [{"type": "text", "text": text}] if text else []
    asked = [{"type": "tool_call", "id": each, "name": "look_up", "args": {"of": each}} for each in ids]
    return {"role": "assistant", "content": [*said, *asked]}


def result(of: str, text: str = "found", **more: Any) -> dict[str, Any]:
    """What became of a call."""
    return {"role": "tool", "content": [{"type": "tool_result", "tool_call_id": of, "content": text, **more}]}


USER = {"role": "user", "content": "hello"}


async def test_calls_and_results_are_added_and_the_model_reads_them(world: World) -> None:
    model = world.agent("ok")
    thread = await world.thread()
    ids = await thread.append_messages([USER, calls("a", text="let me see"), result("a"), USER])
    assert ids == ["m1.0", "m1.1", "m1.2", "m1.3"]
    assert await outcomes(thread) == ["done"]
    await thread.send("now")
    assert model.heard() == [
        ("user", "hello"),
        ("assistant", "let me see"),
        ("done", "found"),
        ("user", "hello"),
        ("user", "now"),
    ]


async def test_calls_get_ids_of_the_threads_own_and_their_results_follow_them(world: World) -> None:
    thread = await world.thread()
    await thread.append_messages([calls("a", "b"), result("a"), result("b")])
    await thread.append_messages([calls("a"), result("a"), calls("a"), result("a")])
    messages = await thread.messages()
    asked = [part["id"] for each in messages for part in each["content"] if part["type"] == "tool_call"]
    assert asked == ["call_1_0", "call_1_1", "call_2_0", "call_2_1"]
    assert await outcomes(thread) == ["done"] * 4


async def test_results_stand_in_the_order_of_the_calls_whatever_order_they_came_in(world: World) -> None:
    thread = await world.thread()
    ids = await thread.append_messages([calls("a", "b"), {**result("b", "second"), "id": "mine"}, result("a", "first")])
    assert ids == ["m1.0", "mine", "m1.2"]
    messages = await thread.messages()
    assert [each["id"] for each in messages] == ["m1.0", "m1.2", "mine"]
    assert [each["position"] for each in messages] == [0, 1, 2]
    told = [each["content"][0] for each in messages[1:]]
    assert [(each["tool_call_id"], each["content"][0]["text"]) for each in told] == [
        ("call_1_0", "first"),
        ("call_1_1", "second"),
    ]
    assert {each["name"] for each in told} == {"look_up"}


@pytest.mark.parametrize(
    ("more", "outcome", "is_error"),
    [
        ({}, "done", False),
        ({"is_error": True}, "failed", True),
        ({"outcome": "rejected"}, "rejected", True),
        ({"outcome": "unknown", "is_error": False}, "unknown", True),
        ({"structured": {"n": 2**53 + 1}}, "done", False),
    ],
)
async def test_a_result_says_how_its_call_ended(
    world: World, more: dict[str, Any], outcome: str, is_error: bool
) -> None:
    thread = await world.thread()
    await thread.append_messages([calls("a"), result("a", **more)])
    part = (await thread.messages())[1]["content"][0]
    assert (part["outcome"], part["is_error"]) == (outcome, is_error)
    assert part.get("structured") == more.get("structured")


@pytest.mark.parametrize(
    "messages",
    [
        [result("a")],
        [USER, result("a")],
        [calls("a")],
        [calls("a", "b"), result("a")],
        [calls("a"), USER, result("a")],
        [calls("a"), result("a"), result("a")],
        [calls("a"), result("b")],
        [calls("a"), calls("b"), result("b"), result("a")],
        [calls("a", "a"), result("a")],
        [calls("a"), result("a", name="another")],
        [calls(""), result("")],
        [calls("a"), {"role": "tool", "content": "found"}],
        [calls("a"), {"role": "tool", "content": [*result("a")["content"], {"type": "text", "text": "x"}]}],
        [calls("a"), result("a", outcome="vanished")],
        [{**calls("a"), "role": "user"}, result("a")],
        [{**result("a"), "role": "assistant"}],
        [calls("a"), {"role": "tool", "content": [{"type": "tool_result"}]}],
        [{"role": "assistant", "content": [{"type": "tool_call", "id": "a", "args": {}}]}, result("a")],
    ],
)
async def test_what_would_leave_a_call_without_its_one_outcome_is_refused(
    world: World, messages: list[dict[str, Any]]
) -> None:
    thread = await world.thread()
    with refused("argument_invalid"):
        await thread.append_messages(messages)
    with refused("thread_not_found"):
        await thread.info()


async def test_calls_are_refused_while_people_are_asked_about_others(world: World) -> None:
    world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    (approval,) = (await thread.send()).approvals
    before = await snapshot(thread)
    for force in (False, True):
        with refused("thread_suspended", approval_ids=approval):
            await thread.append_messages([calls("a"), result("a")], force=force)
    assert await snapshot(thread) == before
    assert (await thread.decide({approval: True})).status == "completed"
    assert await outcomes(thread) == ["done"]


async def test_calls_are_refused_where_a_failed_run_left_others_open_and_not_where_it_did_not(world: World) -> None:
    world.agent(ask("refund", amount=7), rejected(), "ok", tools=[refund], approve=["refund"])
    thread = await world.thread()
    await thread.send()
    await thread.cancel()
    with refused("resume_invalid"):
        await thread.append_messages([calls("a"), result("a")])
    (approval,) = (await thread.retry()).approvals
    assert (await thread.decide({approval: True})).failure == "model_rejected"
    await thread.append_messages([calls("a"), result("a")])
    assert (await thread.retry()).status == "completed"
    assert await outcomes(thread) == ["done", "done"]


async def test_a_deleted_message_takes_the_results_of_its_added_calls_with_it(world: World) -> None:
    thread = await world.thread()
    ids = await thread.append_messages([USER, calls("a", "b"), result("b"), result("a")])
    with refused("argument_invalid"):
        await thread.delete_message(ids[2])
    assert sorted(await thread.delete_message(ids[1])) == sorted(ids[1:])
    assert [each["id"] for each in await thread.messages()] == ids[:1]


async def test_watchers_are_told_of_added_calls_as_of_messages_and_nothing_of_them_runs(world: World) -> None:
    world.agent("ok", tools=[refund])
    thread = await world.thread()
    await thread.append_messages([calls("a"), result("a")])
    told = await thread.watch().turn() if (await thread.send()).text else None
    assert told is not None
    assert told.of("tool_call_started") == told.of("tool_call_finished") == []
    assert told.of("checkpoint_written")[0].data["messages"] == ["m1.0", "m1.1"]
    assert isinstance(thread, PlayedThread)
    if isinstance(thread.inner, clew.Thread):
        transcript = clew.Transcript()
        async for event in thread.inner.watch():
            transcript.apply(event)
        assert transcript.messages == await thread.messages()


async def test_what_one_thread_holds_is_added_to_another_as_it_is_read(world: World) -> None:
    world.agent(ask("refund", amount=7), unavailable(), "paid", "ok", tools=[refund])
    first = await world.thread("first")
    await first.send()
    said = [{"role": each["role"], "content": each["content"]} for each in await first.messages()]
    second = await world.thread("second")
    await second.append_messages(said)
    texts = [[part["type"] for part in each["content"]] for each in await second.messages()]
    assert texts == [["text"], ["tool_call"], ["tool_result"], ["text"]]
    assert (await second.send()).status == "completed"


async def test_the_same_append_of_calls_again_adds_them_once(world: World) -> None:
    thread = await world.thread()
    messages = [calls("a"), result("a")]
    ids = await thread.append_messages(messages, request_id="r")
    assert await thread.append_messages(messages, request_id="r") == ids
    assert len(await thread.messages()) == 2
