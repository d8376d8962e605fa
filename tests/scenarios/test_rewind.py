"""Rewind: an older checkpoint becomes the head again, in a run of its own, and nothing is overwritten."""

from __future__ import annotations

from typing import Any

from tests.scenarios.heads import refund, standing
from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.world import Handle, World, head_of, refused, snapshot


async def said(thread: Handle) -> list[str]:
    """What the transcript's messages say."""
    return [part.get("text", part["type"]) for each in await thread.messages() for part in each["content"]]


async def checkpoint(thread: Handle, source: str, status: str = "in_progress") -> dict[str, Any]:
    """The newest checkpoint that was written so."""
    return next(each for each in await thread.history() if (each["source"], each["status"]) == (source, status))


async def conversation(world: World) -> Handle:
    """A thread of two completed turns."""
    world.agent("one", "two", "three", "four")
    thread = await world.thread()
    await thread.send("first", mood="good")
    await thread.send("second", mood="bad")
    return thread


async def test_history_messages_and_state_follow_the_heads_line_only(world: World) -> None:
    thread = await conversation(world)
    first = (await thread.history())[-2]
    assert first["status"] == "completed"
    await thread.rewind(first["id"])
    assert await said(thread) == ["first", "one"]
    assert await thread.state() == {"mood": "good"}
    assert [each["version"] for each in await thread.history()] == [5, 2, 1]
    await thread.send("third")
    assert await said(thread) == ["first", "one", "third", "three"]


async def test_the_new_head_has_the_target_as_parent_and_a_new_run(world: World) -> None:
    thread = await conversation(world)
    first = (await thread.history())[-2]
    head = await thread.rewind(first["id"])
    assert (head["source"], head["parent_id"], head["version"]) == ("fork", first["id"], 5)
    assert head["run_id"] not in {each["run_id"] for each in await thread.history() if each["version"] < 5}


async def test_completed_keeps_its_status(world: World) -> None:
    thread = await conversation(world)
    head = await thread.rewind((await thread.history())[-2]["id"])
    assert head["status"] == "completed"
    with refused("resume_invalid"):
        await thread.retry()


async def test_failed_keeps_its_status_and_its_reason(world: World) -> None:
    world.agent(rejected("why"), "ok", "ok")
    thread = await world.thread()
    await thread.send()
    failed = await head_of(thread)
    await thread.send("again")
    head = await thread.rewind(failed["id"])
    assert (head["status"], head["failure_code"]) == ("failed", failed["failure_code"])
    assert (await thread.retry()).text == "ok"


async def test_in_progress_becomes_failed_with_code_rewound_and_retry_continues(world: World) -> None:
    world.agent("one", "other")
    thread = await world.thread()
    await thread.send("first")
    head = await thread.rewind((await thread.history())[-1]["id"])
    assert (head["status"], head["failure_code"]) == ("failed", "rewound")
    assert (await thread.retry()).text == "other"
    assert await said(thread) == ["first", "other"]


async def test_a_send_after_a_rewind_into_a_run_is_a_new_turn(world: World) -> None:
    world.agent("one", "other")
    thread = await world.thread()
    await thread.send("first")
    await thread.rewind((await thread.history())[-1]["id"])
    await thread.send("second")
    assert await said(thread) == ["first", "second", "other"]


async def test_results_recorded_at_or_before_the_target_count_as_finished(world: World) -> None:
    ran: list[str] = []

    def one() -> str:
        ran.append("one")
        return "1"

    def two() -> str:
        ran.append("two")
        return "2"

    world.agent(ask("one"), ask("two"), "ok", tools=[one, two])
    thread = await world.thread()
    await thread.send()
    asked_two = next(each for each in await thread.history() if each["step"] == 2 and each["next"] == ["tools"])
    await thread.rewind(asked_two["id"])
    await thread.retry()
    assert ran == ["one", "two", "two"]


async def test_a_result_after_the_target_is_off_the_line_and_the_call_runs_again(world: World) -> None:
    ran: list[str] = []

    def one() -> str:
        ran.append("one")
        return f"{len(ran)}"

    model = world.agent(ask("one"), "ok", tools=[one])
    thread = await world.thread()
    await thread.send()
    await thread.rewind((await thread.history())[2]["id"])
    await thread.retry()
    assert ran == ["one", "one"]
    assert model.heard()[-1] == ("done", "2")


async def test_suspended_stays_suspended_and_asks_only_what_was_still_open(world: World) -> None:
    world.agent([ask("refund", amount=1), ask("refund", amount=2)], "ok", tools=[refund], approve=True)
    thread = await world.thread()
    first, second = (await thread.send()).approvals
    await thread.decide({first: True})
    partly = await head_of(thread)
    await thread.decide({second: True})
    head = await thread.rewind(partly["id"])
    assert head["status"] == "suspended"
    (approval,) = await thread.approvals()
    assert approval["arguments"] == {"amount": 2}
    assert approval["id"] not in (first, second)
    assert (await thread.decide({approval["id"]: True})).status == "completed"


async def test_newer_checkpoints_stay_stored_and_can_be_rewound_to(world: World) -> None:
    thread = await conversation(world)
    last = await head_of(thread)
    await thread.rewind((await thread.history())[-2]["id"])
    assert last["id"] not in {each["id"] for each in await thread.history()}
    head = await thread.rewind(last["id"])
    assert head["parent_id"] == last["id"]
    assert await said(thread) == ["first", "one", "second", "two"]
    assert await thread.state() == {"mood": "bad"}


async def test_ids_are_never_used_again(world: World) -> None:
    thread = await conversation(world)
    before = {each["id"] for each in await thread.messages()} | {each["id"] for each in await thread.history()}
    kept = (await thread.history())[-2]
    await thread.rewind(kept["id"])
    await thread.send("third")
    fresh = [each for each in await thread.messages() if each["version"] > 5]
    assert not before & {each["id"] for each in fresh}
    assert not before & {each["id"] for each in await thread.history() if each["version"] > 4}


async def test_a_rewind_to_the_head_itself_is_a_new_head_too(world: World) -> None:
    thread = await conversation(world)
    head = await head_of(thread)
    assert (await thread.rewind(head["id"]))["parent_id"] == head["id"]
    assert await said(thread) == ["first", "one", "second", "two"]


async def test_rewinds_of_rewinds_keep_to_their_lines(world: World) -> None:
    thread = await conversation(world)
    ends = {each["version"]: each["id"] for each in await thread.history() if each["status"] == "completed"}
    await thread.rewind(ends[2])
    await thread.send("third")
    third = await head_of(thread)
    await thread.rewind(ends[4])
    await thread.send("fourth")
    assert await said(thread) == ["first", "one", "second", "two", "fourth", "four"]
    await thread.rewind(third["id"])
    assert await said(thread) == ["first", "one", "third", "three"]


async def test_a_checkpoint_of_another_thread_is_not_found(world: World) -> None:
    thread = await conversation(world)
    other = await world.thread("other")
    await other.send()
    before = await snapshot(thread)
    with refused("checkpoint_not_found"):
        await thread.rewind((await head_of(other))["id"])
    for forged in ("x", "1", "0" * 16 + ".1", (await head_of(thread))["id"] + "0"):
        with refused("checkpoint_not_found"):
            await thread.rewind(forged)
    assert await snapshot(thread) == before


async def test_a_rewind_voids_what_waits(world: World) -> None:
    at = await standing(world, "suspended")
    await at.thread.rewind((await at.thread.history())[-1]["id"])
    assert await at.thread.approvals() == []
    assert (await head_of(at.thread))["failure_code"] == "rewound"


async def test_a_rewind_of_cancelled_text_lets_a_retry_replace_it(world: World) -> None:
    world.agent(["half", Gate()], "whole")
    thread = await world.thread()
    await thread.stream().until("text_delta")
    cancelled = await thread.cancel()
    await thread.send("new turn")
    await thread.rewind(cancelled["id"])
    assert (await thread.retry()).text == "whole"
    assert await said(thread) == ["hello", "whole"]
