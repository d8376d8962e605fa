"""Messages that are deleted for good: gone in every version, with what belongs to them."""

from __future__ import annotations

from typing import Any, cast

import pytest

import clew
from clew_storage import ThreadKey
from tests.scenarios.handles import PlayedThread
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Counted, ask
from tests.scenarios.world import World, head_of, refused, snapshot, texts, where_calls_are_open

KEY = ThreadKey("", "t")


async def test_a_deleted_message_is_gone_in_every_version_and_to_the_model(world: World) -> None:
    model = world.agent("one", "two", "three")
    thread = await world.thread()
    await thread.send("secret")
    older = await head_of(thread)
    await thread.update_message("m1.0", "still secret")
    await thread.send("second")
    assert await thread.delete_message("m1.0") == ["m1.0"]
    assert await texts(thread) == ["one", "second", "two"]
    with refused("message_not_found", message_id="m1.0"):
        await thread.message("m1.0")
    await thread.send("third")
    assert all("secret" not in text for _, text in model.heard())
    await thread.rewind(older["id"])
    assert await texts(thread) == ["one"]
    with refused("message_not_found"):
        await thread.delete_message("m1.0")
    log = await stored_log(world)
    assert not any(b"secret" in message.body for entry in log for message in entry.messages)


async def stored_log(world: World) -> Any:
    """The log of the thread `t`, as the storage has it."""
    head = await world.storage.backend.threads.get_head(KEY)
    assert head is not None
    return await world.storage.backend.threads.read_log(
        KEY, head.thread.uid, after_version=0, limit=100, max_bytes=1 << 20
    )


async def test_with_a_message_that_asked_for_calls_go_their_results(world: World) -> None:
    model = world.agent([ask("count", n=1), ask("count", n=2)], "ok", tools=[Counted().count])
    thread = await world.thread()
    await thread.send()
    messages = await thread.messages()
    with refused("argument_invalid"):
        await thread.delete_message(messages[2]["id"])
    assert await thread.delete_message(messages[1]["id"]) == [each["id"] for each in messages[1:4]]
    assert await thread.messages() == [messages[0], messages[4]]
    await thread.send("again")
    assert model.heard() == [("user", "hello"), ("assistant", "ok"), ("user", "again")]


async def test_with_a_message_that_asked_for_calls_go_the_results_of_every_line(world: World) -> None:
    model = world.agent([ask("count", n=1), ask("count", n=2)], "ok", "again", tools=[Counted().count])
    thread = await world.thread()
    await thread.send()
    (*_, asked) = [each for each in await thread.history() if each["next"] == ["tools"]]
    abandoned = await head_of(thread)
    old = (await thread.messages())[2:4]
    await thread.rewind(asked["id"])
    assert (await thread.retry()).text == "again"
    (said, request, *results, answer) = await thread.messages()
    gone = await thread.delete_message(request["id"])
    assert gone[:3] == [each["id"] for each in (request, *results)]
    # Those of the other line come as they were written, which is in the order in which the calls ended.
    assert sorted(gone[3:]) == sorted(each["id"] for each in old)
    assert await thread.messages() == [said, answer]
    await thread.rewind(abandoned["id"])
    assert await texts(thread) == ["hello", "ok"]
    log = await stored_log(world)
    assert not any(message.role == "tool" for entry in log for message in entry.messages)
    await thread.send("and now")
    assert model.heard() == [("user", "hello"), ("assistant", "ok"), ("user", "and now")]


async def test_an_open_call_may_have_results_on_another_line(world: World) -> None:
    world.agent(ask("count", n=1), "ok", tools=[Counted().count])
    thread = await world.thread()
    await thread.send()
    asked = await where_calls_are_open(thread)
    done = await head_of(thread)
    (_, request, result, _) = await thread.messages()
    await thread.rewind(asked)
    assert await thread.delete_message(request["id"]) == [request["id"], result["id"]]
    assert (await head_of(thread))["next"] == ["model"]
    await thread.rewind(done["id"])
    assert await texts(thread) == ["hello", "ok"]


@pytest.mark.parametrize("world", ["memory-grpc", "sqlite-grpc"], indirect=True)
async def test_a_clients_transcript_drops_results_of_every_line(world: World) -> None:
    world.agent(ask("count", n=1), "ok", tools=[Counted().count])
    thread = await world.thread()
    await thread.send()
    asked = await where_calls_are_open(thread)
    done = await head_of(thread)
    (_, request, *_) = await thread.messages()
    await thread.rewind(asked)
    await thread.retry()
    assert isinstance(thread, PlayedThread)
    transcript = clew.Transcript()
    for change in (lambda: thread.delete_message(request["id"]), lambda: thread.rewind(done["id"])):
        async for event in thread.inner.watch(after_version=transcript.version):
            transcript.apply(cast("clew.Event", event))
        await change()
    async for event in thread.inner.watch(after_version=transcript.version):
        transcript.apply(cast("clew.Event", event))
    assert transcript.messages == await thread.messages(reasoning=True)


async def test_deleting_the_message_whose_calls_are_open_asks_the_model_anew(world: World) -> None:
    counted = Counted()
    model = world.agent(ask("count", n=1), "ok", tools=[counted.count])
    thread = await world.thread()
    await thread.send()
    middle = await where_calls_are_open(thread)
    await thread.rewind(middle)
    (_, asked) = await thread.messages()
    assert (await thread.delete_message(asked["id"]))[0] == asked["id"]
    assert (await head_of(thread))["next"] == ["model"]
    assert (await thread.retry()).text == "ok"
    assert (counted.calls, model.heard()) == ([1], [("user", "hello")])
    # What had the deleted message at its end is no dead end either.
    await thread.rewind(middle)
    assert (await thread.retry()).text == "ok"


async def test_a_message_that_approvals_are_about_is_not_deleted(world: World) -> None:
    at = await standing(world, "suspended")
    thread = at.thread
    (_, asked) = await thread.messages()
    before = await snapshot(thread)
    with refused("thread_suspended"):
        await thread.delete_message(asked["id"])
    with refused("thread_suspended", approval_ids=at.approval):
        await thread.delete_message(asked["id"], force=True)
    assert await snapshot(thread) == before
    await thread.update_message("m1.0", "changed", force=True)
    await thread.append_messages([{"role": "user", "content": "please"}], force=True)
    assert await thread.delete_message("m1.0", force=True) == ["m1.0"]
    assert (await thread.decide({at.approval: True})).text == "ok"


async def test_a_rewind_to_where_a_deleted_call_was_asked_about_asks_nobody(world: World) -> None:
    at = await standing(world, "suspended")
    thread = at.thread
    await thread.decide({at.approval: True})
    (_, asked, *_) = await thread.messages()
    await thread.delete_message(asked["id"])
    written = await thread.rewind(at.checkpoint)
    assert (written["status"], written["failure_code"], await thread.approvals()) == ("failed", "rewound", [])
    assert (await thread.retry()).text == "ok"


async def test_a_copy_keeps_what_is_deleted_in_its_source(world: World) -> None:
    thread = await world.thread()
    await thread.send("first")
    copy = await thread.copy("u")
    await thread.delete_message("m1.0")
    assert await texts(copy) == ["first", "ok"]
    assert await copy.delete_message("m1.0") == ["m1.0"]
    assert await texts(copy) == ["ok"]
