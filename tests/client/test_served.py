"""The client and the server that is shipped, over a real connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew import (
    AppNotFoundError,
    ApprovalAlreadyDecidedError,
    ArgumentInvalidError,
    CheckpointNotFoundError,
    Client,
    Event,
    IdInvalidError,
    Limits,
    RequestIdReusedError,
    ResumeInvalidError,
    RunCancelledError,
    TextDelta,
    Thread,
    ThreadBusyError,
    ThreadInterruptedError,
    ThreadNotFoundError,
    ThreadSuspendedError,
    VersionConflictError,
)
from clew_engine import Storage
from tests.rpc.agents import Gate, echo, support
from tests.support.serving import Served, serving


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def served(gate: Gate) -> AsyncIterator[Served]:
    async with serving([support(), gate.agent, echo()]) as running:
        yield running


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with Client(served.target) as client:
        yield client


@pytest.fixture
def thread(client: Client) -> Thread:
    return client.app("support").thread("t-1", actor="ada")


async def until(stream: AsyncIterator[Event], kind: str) -> Event:
    async for event in stream:
        if event.type == kind:
            return event
    raise AssertionError(f"no {kind}")


async def test_a_turn_is_streamed_suspended_approved_and_remembered(client: Client, thread: Thread) -> None:
    events = [event async for event in thread.stream("refund me", user_id=42, big=2**53 + 1)]
    assert [event.type for event in events if not isinstance(event.payload, TextDelta)] == [
        "run_started",
        "checkpoint_written",
        "checkpoint_written",
        "tool_call_started",
        "tool_call_finished",
        "checkpoint_written",
        "checkpoint_written",
        "approval_requested",
        "checkpoint_written",
        "run_suspended",
    ]
    with pytest.raises(ThreadSuspendedError) as raised:
        await thread.send("well?")
    (waiting,) = await client.approvals.list()
    assert raised.value.approval_ids == (waiting.id,)
    assert (waiting.tool, waiting.arguments, waiting.requested_by) == ("refund", {"order": "A-1", "amount": 40}, "ada")
    reply = await thread.approve()
    assert reply.text == "Done: your money is on its way."
    assert reply.usage.total_tokens >= 0
    messages = await thread.messages()
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert messages[0]["content"][0]["text"] == "refund me"
    assert await thread.state() == {"user_id": 42, "big": 2**53 + 1}
    info = await thread.info()
    assert (info.status, info.version, info.user_id, info.app) == ("completed", reply.version, "42", "support")
    assert [checkpoint["version"] for checkpoint in await thread.history(3)] == [
        info.version - back for back in range(3)
    ]
    with pytest.raises(ApprovalAlreadyDecidedError):
        await thread.approve(waiting.id)
    with pytest.raises(ResumeInvalidError):
        await thread.approve()


async def test_a_rejection_and_edited_arguments_reach_the_run(client: Client, thread: Thread) -> None:
    await thread.send("refund me")
    assert (await thread.reject("no budget")).text == "It was not allowed."
    other = client.app("support").thread("t-2")
    (waiting,) = (await other.send("refund me")).approvals
    await other.decide({waiting.id: {"arguments": {"order": "A-1", "amount": 5}}})
    results = [message for message in await other.messages() if message["role"] == "tool"]
    assert results[-1]["content"][0]["content"][0]["text"] == "refunded 5 EUR of A-1"


async def test_the_inbox_tells_what_waits_and_what_became_of_it(client: Client, thread: Thread) -> None:
    await thread.send("refund me")
    async with client.approvals.watch() as inbox:
        seen = []
        async for event in inbox:
            seen.append((event.type, event.approval.state if event.approval else ""))
            if event.type == "snapshot_end":
                await thread.approve()
            if event.type == "changed":
                break
    assert seen == [("pending", "pending"), ("snapshot_end", ""), ("changed", "approved")]


async def test_deltas_add_up_to_the_text(client: Client) -> None:
    text = "héllo wörld, " * 50
    pieces, last = "", None
    async for event in client.app("echo").thread("t-1").stream(text):
        if isinstance(event.payload, TextDelta):
            assert event.payload.offset == len(pieces.encode())
            pieces += event.payload.text
        last = event
    assert pieces == text
    assert last is not None
    assert last.type == "run_completed"


async def test_leaving_a_stream_cancels_the_run_and_retry_continues_it(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    async with thread.stream("wait") as stream:
        await until(aiter(stream), "tool_call_started")
    head = (await thread.history(1))[0]
    assert (head["status"], head["failure_code"], gate.cancelled) == ("failed", "cancelled", 1)
    gate.opened.set()
    assert (await thread.retry()).text == "Through."


async def test_cancelling_the_task_cancels_the_run(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    task = asyncio.create_task(thread.send("wait"))
    await gate.began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await thread.info()).status == "failed"


async def test_another_one_may_cancel_and_the_sender_is_told(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    task = asyncio.create_task(thread.send("wait"))
    await gate.began.wait()
    head = await client.thread("t-1").cancel()
    assert head is not None
    assert head["status"] == "failed"
    with pytest.raises(RunCancelledError):
        await task


async def test_a_busy_thread_refuses_waits_or_is_interrupted(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    first = asyncio.create_task(thread.send("wait"))
    await gate.began.wait()
    with pytest.raises(ThreadBusyError) as raised:
        await thread.send("hello", on_busy="reject")
    assert raised.value.retry_after is not None
    with pytest.raises(ThreadBusyError):
        await thread.send("hello", busy_timeout=0.05)
    assert (await thread.send("hello", on_busy="interrupt")).text == "Hello."
    with pytest.raises(RunCancelledError):
        await first


async def test_a_request_that_waits_is_left_without_a_trace(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    first = asyncio.create_task(thread.send("wait"))
    await gate.began.wait()
    async with thread.stream("hello") as stream:
        assert (await until(aiter(stream), "run_queued")).type == "run_queued"
    gate.opened.set()
    assert (await first).text == "Through."
    assert [message["content"][0].get("text") for message in await thread.messages() if message["role"] == "user"] == [
        "wait"
    ]


async def test_the_same_request_id_gives_the_same_outcome(client: Client) -> None:
    thread = client.app("echo").thread("t-1")
    first = await thread.send("hi", request_id="r-1")
    again = await thread.send("hi", request_id="r-1", on_busy="reject")
    assert (again.text, again.version, again.run_id) == (first.text, first.version, first.run_id)
    with pytest.raises(RequestIdReusedError):
        await thread.send("ho", request_id="r-1")


async def test_rewind_copy_update_and_delete(client: Client) -> None:
    thread = client.app("echo").thread("t-1")
    first = await thread.send("one")
    await thread.send("two")
    (target,) = [each for each in await thread.history(None) if each["version"] == first.version]
    fork = await thread.rewind(target["id"])
    assert (fork["source"], fork["parent_id"], fork["status"]) == ("fork", target["id"], "completed")
    assert [message["content"][0]["text"] for message in await thread.messages()] == ["one", "one"]
    assert (await thread.copy("t-2")).id == "t-2"
    before = await thread.info()
    changed = await thread.update(name="Orders", metadata={"team": "a"})
    assert (changed.name, changed.metadata) == ("Orders", {"team": "a"})
    with pytest.raises(VersionConflictError):
        await thread.update(name="x", etag=before.etag)
    assert [each.thread_id for each in await client.threads.list(metadata=("team", "a"))] == ["t-1"]
    assert await thread.delete() is True
    assert await thread.delete() is False
    with pytest.raises(ThreadNotFoundError):
        await thread.messages()
    assert len(await client.thread("t-2").messages()) == 2


async def test_a_watcher_sees_the_log_and_then_what_happens(client: Client, gate: Gate) -> None:
    thread = client.app("gate").thread("t-1")
    run = asyncio.create_task(thread.send("wait"))
    await gate.began.wait()
    events = aiter(client.thread("t-1").watch())
    await until(events, "tool_call_started")
    gate.opened.set()
    assert (await until(events, "run_completed")).version == (await run).version
    again = [event.type async for event in client.thread("t-1").watch(after_version=(await run).version)]
    assert again == ["run_completed"]


async def test_a_server_that_stops_leaves_the_run_to_be_retried(tmp_path: Path, gate: Gate) -> None:
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([gate.agent], url, grace=0) as first:
        port = first.server.port
        client = Client(first.target)
        sending = asyncio.create_task(client.app("gate").thread("t-1").send("wait"))
        await gate.began.wait()
    second = Gate()
    second.opened.set()
    async with serving([second.agent], url, port=port):
        with pytest.raises(ThreadInterruptedError):
            await sending
        thread = client.app("gate").thread("t-1")
        info = await thread.info()
        assert info.run is not None
        assert info.run.state == "interrupted"
        with pytest.raises(ThreadInterruptedError):
            await thread.approve()
        assert (await thread.retry()).text == "Through."
        await client.close()


async def test_a_stream_that_the_server_cuts_goes_on_by_itself(gate: Gate) -> None:
    async with (
        Storage("memory://") as storage,
        serving([gate.agent], storage) as served,
        Client(served.target) as client,
    ):
        sending = asyncio.create_task(client.app("gate").thread("t-1").send("wait"))
        await gate.began.wait()
        served.storage.hub.fail_all("a test cuts all readers")
        gate.opened.set()
        assert (await sending).text == "Through."


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda client: client.app("support").thread("a/b").send("hi"), IdInvalidError),
        (lambda client: client.app("nobody").thread("t-1").send("hi"), AppNotFoundError),
        (lambda client: client.app("echo").thread("t-1").send("hi", messages=[]), ArgumentInvalidError),
        (lambda client: client.app("echo").thread("t-1").send("hi", expected_version=7), VersionConflictError),
        (lambda client: client.thread("t-1").info(), ThreadNotFoundError),
        (lambda client: client.thread("t-1").approve(), ResumeInvalidError),
        (lambda client: client.thread("t-1").retry(), ResumeInvalidError),
        (lambda client: client.thread("t-1").rewind("u.1"), CheckpointNotFoundError),
    ],
)
async def test_refusals_come_as_their_errors(client: Client, call: object, error: type[Exception]) -> None:
    assert callable(call)
    with pytest.raises(error):
        await call(client)


async def test_apps_tell_their_tools(client: Client) -> None:
    assert {app.name for app in await client.apps.list()} == {"support", "gate", "echo"}
    app = await client.apps.get("support")
    assert {tool.name: tool.requires_approval for tool in app.tools} == {"look_up": False, "refund": True}


async def test_a_run_without_a_thread_gives_one_answer(client: Client) -> None:
    assert (await client.app("echo").run("hi", limits=Limits(steps=3))).text == "hi"
    assert await client.threads.list() == []


async def test_the_blocking_forms_reach_it_too(served: Served) -> None:
    def talk() -> list[str]:
        with Client(served.target) as client:
            thread = client.app("echo").thread("t-9")
            thread.send_sync("one")
            last = [event.type for event in thread.stream_sync("two")][-1]
            return [last, thread.info_sync().status]

    assert await asyncio.to_thread(talk) == ["run_completed", "completed"]
