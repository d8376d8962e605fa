"""A deleted message is gone with all that was made of its calls: the text is in no row, no event, no answer and no byte of the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Tool
from clew_storage import ApprovalState, LogEntry, ThreadKey
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.world import Handle, World, head_of

KEY = ThreadKey("", "t")
CANARY = "canary-that-must-be-gone"
# More than a page of the file holds, and so on pages of its own.
LARGE = f"{CANARY} " * 400


class Till:
    """Tools that people are asked about, and one that hangs the first time."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.gate: Gate | None = Gate()

    def tools(self) -> list[Any]:
        """What the agent is given."""

        def pay(note: str) -> str:
            self.paid.append(note)
            return f"paid: {note}"

        async def ship(note: str) -> str:
            gate, self.gate = self.gate, None
            if gate is not None:
                await gate.pass_through()
            return f"shipped: {note}"

        return [Tool(pay, once=True), ship]


async def played(world: World, note: str) -> tuple[Handle, str, list[str]]:
    """A thread whose message asked for calls that were approved with other arguments, rejected, cancelled, retried and asked about anew."""
    till = Till()
    asking = [f"I will pay {note}", *(ask(name, note=f"{note} {name}") for name in ("pay", "pay", "ship"))]
    world.agent(asking, "done", tools=till.tools(), approve=["pay", "ship"])
    thread = await world.thread(actor="ada")
    turn = await thread.send("please")
    first, second, third = turn.approvals
    asked = await head_of(thread)
    await thread.decide({first: {"arguments": {"note": f"{note} edited"}}})
    hanging = till.gate
    assert hanging is not None
    run = thread.stream_decide({second: {"reject": f"{CANARY} reason"}, third: True})
    await hanging.wait()
    await run.until("tool_call_finished", 2)
    await thread.cancel()
    await run.turn()
    assert (await thread.retry()).text == "done"
    assert till.paid == [f"{note} edited"]
    await thread.rewind(asked["id"])
    anew = [each["id"] for each in await thread.approvals() if each["state"] == "pending"]
    again = await thread.decide(dict.fromkeys(anew, True))
    # What was paid on the other line is asked about, and told.
    await thread.decide({each: {"result": f"{note} told"} for each in again.approvals})
    (_, message, *_) = await thread.messages()
    return thread, message["id"], [*turn.approvals, *anew, *again.approvals]


def texts_of(entry: LogEntry) -> Iterator[bytes]:
    """All that is stored of a version."""
    yield entry.checkpoint.body
    for message in entry.messages:
        yield message.body
    for approval in entry.approvals:
        yield from (approval.body, approval.decision or b"")


async def stored(world: World) -> list[bytes]:
    """All that is stored of the thread `t`, on whatever line."""
    head = await world.storage.backend.threads.get_head(KEY)
    assert head is not None
    log = await world.storage.backend.threads.read_log(
        KEY, head.thread.uid, after_version=0, limit=1000, max_bytes=1 << 24
    )
    state = await world.storage.backend.threads.get_state(KEY, version=None)
    return [text for entry in log for text in texts_of(entry)] + list((state or {}).values())


async def test_nothing_stored_keeps_what_a_deleted_message_asked_for(world: World) -> None:
    thread, message_id, _ = await played(world, CANARY)
    kept = sum(CANARY.encode() in text for text in await stored(world))
    assert kept > 12
    await thread.delete_message(message_id)
    assert [text for text in await stored(world) if CANARY.encode() in text] == []


async def test_approvals_of_deleted_calls_tell_who_decided_and_no_content(world: World) -> None:
    thread, message_id, asked = await played(world, CANARY)
    before = {each["id"]: each for each in await every_approval(world)}
    await thread.delete_message(message_id)
    found = {each["id"]: each for each in await every_approval(world)}
    assert list(found) == list(before)
    assert set(asked) <= set(found)
    for name, approval in found.items():
        gone = {"arguments_json": "", "arguments_digest": "", "decided_arguments_json": "", "reason": ""}
        assert approval == {**before[name], **gone}
        assert approval["state"] in ("approved", "rejected", "answered", "void")


async def every_approval(world: World) -> list[dict[str, Any]]:
    """The thread's approvals, however they ended."""
    listed = [
        approval
        for state in ApprovalState
        for approval in await world.storage.approvals.list(thread_id="t", state=state.value)
    ]
    for approval in listed:
        assert await world.storage.approvals.get(approval.id) == approval
    return [each.as_dict() for each in listed]


async def test_a_replay_tells_nothing_of_what_a_deleted_message_asked_for(world: World) -> None:
    thread, message_id, asked = await played(world, CANARY)
    await thread.delete_message(message_id)
    replay = await thread.watch(0).turn()
    assert [each.data["approval"] for each in replay.of("approval_requested")] == asked
    assert CANARY not in repr([event.data for event in replay.events])
    assert replay.of("tool_call_started") == []


async def test_a_thread_goes_on_from_where_the_deleted_calls_were_asked_about(world: World) -> None:
    thread, message_id, _ = await played(world, CANARY)
    history = await thread.history()
    await thread.delete_message(message_id)
    for checkpoint in history:
        written = await thread.rewind(checkpoint["id"])
        assert await thread.approvals() == []
        if written["status"] == "failed":
            assert (await thread.retry()).text == "done"
    assert [text for text in await stored(world) if CANARY.encode() in text] == []


async def test_a_call_that_was_started_once_is_still_asked_about_after_other_messages_went(world: World) -> None:
    till = Till()
    till.gate = None
    world.agent(ask("pay", note="first"), ask("pay", note="second"), "done", tools=till.tools())
    thread = await world.thread()
    await thread.send()
    (_, first, _, second, *_) = await thread.messages()
    open_call = next(each for each in await thread.history() if each["next"] == ["tools"] and each["source"] == "step")
    await thread.delete_message(first["id"])
    await thread.rewind(open_call["id"])
    turn = await thread.retry()
    assert turn.status == "suspended"
    (waiting,) = [each for each in await thread.approvals() if each["state"] == "pending"]
    assert (waiting["kind"], waiting["tool_call_id"]) == ("tool_outcome", second["content"][0]["id"])
    assert till.paid == ["first", "second"]


@pytest.mark.parametrize("here", ["sqlite"], indirect=True)
@pytest.mark.parametrize("note", [CANARY, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("gone", ["message", "thread"])
async def test_no_byte_of_the_file_keeps_what_was_deleted(here: World, note: str, gone: str) -> None:
    path = Path(here.url.removeprefix("sqlite://"))
    thread, message_id, _ = await played(here, note)
    if gone == "message":
        await thread.delete_message(message_id)
    else:
        await thread.delete()
    await here.close()
    found = {file.name: file.read_bytes().count(CANARY.encode()) for file in path.parent.glob(f"{path.name}*")}
    assert path.name in found
    assert not any(found.values()), found
