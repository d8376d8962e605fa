"""Messages from outside a run: added at the end, changed in their place, deleted for good. The model sees what is there."""

from __future__ import annotations

from typing import Any, cast

import pytest

import clew
from clew_engine import reads
from clew_storage import ThreadKey
from tests.scenarios.handles import PlayedThread
from tests.scenarios.heads import standing
from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.world import Handle, World, head_of, refused, snapshot

KEY = ThreadKey("", "t")


def add(a: int) -> int:
    """A tool."""
    return a


async def texts(thread: Handle) -> list[str]:
    """What each message says; of results what they gave."""
    found = []
    for message in await thread.messages():
        parts = [part["content"][0] if part["type"] == "tool_result" else part for part in message["content"]]
        found.append("".join(part.get("text", "") for part in parts))
    return found


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
    model = world.agent(["let me", ask("add", a=1)], "ok", tools=[add])
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
    log = await here_log(world)
    assert not any(b"secret" in message.body for entry in log for message in entry.messages)


async def here_log(world: World) -> Any:
    """All that is stored of the thread `t`."""
    head = await world.storage.backend.threads.get_head(KEY)
    assert head is not None
    return await world.storage.backend.threads.read_log(
        KEY, head.thread.uid, after_version=0, limit=100, max_bytes=1 << 20
    )


async def test_with_a_message_that_asked_for_calls_go_their_results(world: World) -> None:
    model = world.agent([ask("add", a=1), ask("add", a=2)], "ok", tools=[add])
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
    model = world.agent([ask("add", a=1), ask("add", a=2)], "ok", "again", tools=[add])
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
    log = await here_log(world)
    assert not any(message.role == "tool" for entry in log for message in entry.messages)
    await thread.send("and now")
    assert model.heard() == [("user", "hello"), ("assistant", "ok"), ("user", "and now")]


async def test_an_open_call_may_have_results_on_another_line(world: World) -> None:
    world.agent(ask("add", a=1), "ok", tools=[add])
    thread = await world.thread()
    await thread.send()
    asked = next(each for each in await thread.history() if each["next"] == ["tools"])
    done = await head_of(thread)
    (_, request, result, _) = await thread.messages()
    await thread.rewind(asked["id"])
    assert await thread.delete_message(request["id"]) == [request["id"], result["id"]]
    assert (await head_of(thread))["next"] == ["model"]
    await thread.rewind(done["id"])
    assert await texts(thread) == ["hello", "ok"]


@pytest.mark.parametrize("world", ["memory-grpc", "sqlite-grpc"], indirect=True)
async def test_a_clients_transcript_drops_results_of_every_line(world: World) -> None:
    world.agent(ask("add", a=1), "ok", tools=[add])
    thread = await world.thread()
    await thread.send()
    asked = next(each for each in await thread.history() if each["next"] == ["tools"])
    done = await head_of(thread)
    (_, request, *_) = await thread.messages()
    await thread.rewind(asked["id"])
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
    calls: list[int] = []

    def count(n: int) -> int:
        calls.append(n)
        return n

    model = world.agent(ask("count", n=1), "ok", tools=[count])
    thread = await world.thread()
    await thread.send()
    middle = next(each for each in await thread.history() if each["next"] == ["tools"])
    await thread.rewind(middle["id"])
    await thread.append_messages([{"role": "user", "content": "and hurry"}])
    assert (await thread.retry()).text == "ok"
    assert calls == [1, 1]
    assert model.heard() == [("user", "hello"), ("assistant", ""), ("done", "1"), ("user", "and hurry")]


async def test_deleting_the_message_whose_calls_are_open_asks_the_model_anew(world: World) -> None:
    calls: list[int] = []

    def count(n: int) -> int:
        calls.append(n)
        return n

    model = world.agent(ask("count", n=1), "ok", tools=[count])
    thread = await world.thread()
    await thread.send()
    middle = next(each for each in await thread.history() if each["next"] == ["tools"])
    await thread.rewind(middle["id"])
    (_, asked) = await thread.messages()
    assert (await thread.delete_message(asked["id"]))[0] == asked["id"]
    assert (await head_of(thread))["next"] == ["model"]
    assert (await thread.retry()).text == "ok"
    assert (calls, model.heard()) == ([1], [("user", "hello")])
    # What had the deleted message at its end is no dead end either.
    await thread.rewind(middle["id"])
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
    world.agent(ask("add", a=1), rejected(), "ok", tools=[add])
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
    world.agent(ask("add", a=1), "ok", tools=[add])
    thread = await world.thread()
    turn = await thread.send()
    result = (await thread.messages())[2]
    await thread.update_message(result["id"], "other")
    again = await thread.watch(turn.version).turn()
    assert again.of("tool_call_finished") == []
    assert again.of("checkpoint_written")[0].data["messages"] == [result["id"]]


@pytest.mark.parametrize("world", ["memory-grpc", "sqlite-grpc"], indirect=True)
async def test_a_clients_transcript_follows_every_change(world: World) -> None:
    world.agent("one", ["let me", ask("add", a=1)], "two", "three", tools=[add])
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


async def test_a_copy_keeps_what_is_deleted_in_its_source(world: World) -> None:
    thread = await world.thread()
    await thread.send("first")
    copy = await thread.copy("u")
    await thread.delete_message("m1.0")
    assert await texts(copy) == ["first", "ok"]
    assert await copy.delete_message("m1.0") == ["m1.0"]
    assert await texts(copy) == ["ok"]


async def test_a_message_of_another_thread_is_not_touched(here: World) -> None:
    thread, other = await here.thread(), await here.thread("u")
    await thread.send("mine")
    await other.send("yours")
    await thread.delete_message("m1.0")
    assert (await texts(other))[0] == "yours"
    assert (await reads.get_message(here.storage, ThreadKey("", "u"), "m1.0"))[0].text == "yours"


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
