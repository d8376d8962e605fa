"""Streams over a real connection: broken, cut, refused and left."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import grpc
import pytest

from clew import (
    ClewError,
    Client,
    DeadlineExceededError,
    EventStream,
    RunCancelledError,
    RunFailedError,
    StreamCutError,
    TextDelta,
    ThreadBusyError,
    ThreadInterruptedError,
    ThreadNotFoundError,
    UnavailableError,
)
from clew.v1 import checkpoint_pb2, run_pb2
from clew.v1 import run_service_pb2 as pb
from tests.client.scripted import ScriptedServer, broken, cut, for_ever, refuses, replies, streams, waits_for
from tests.client.telling import (
    asked,
    completed,
    delta,
    event,
    failed,
    queued,
    said,
    started,
    suspended,
    turn,
    written,
)

BEGINNING = [started(1), written(1, asked("m1.1", "hi"), source="INPUT"), delta(1, "m2.1", 0, "do")]
END = [written(2, said("m2.1", "done"), last=False, status="COMPLETED"), completed(2)]
CANCELLED = pb.CancelRunResponse(checkpoint=checkpoint_pb2.Checkpoint(id="u.2", version=2))


async def types(stream: EventStream) -> list[str]:
    return [each.type async for each in stream]


async def test_a_stream_gives_every_event_of_the_turn(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([queued(1)], turn()))
    events = [each async for each in client.app("support").thread("t-1").stream("hi")]
    assert [each.type for each in events] == [
        "run_queued",
        "run_started",
        "checkpoint_written",
        "text_delta",
        "checkpoint_written",
        "run_completed",
    ]
    assert events[3].payload == TextDelta("m2.1", 0, 0, "done")
    assert server.names() == ["Send"]


async def test_a_stream_that_breaks_is_joined_where_it_was_left(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, broken))
    server.on("Watch", streams([delta(1, "m2.1", 0, "do"), delta(1, "m2.1", 2, "ne")], END))
    events = [each async for each in client.thread("t-1").stream("hi")]
    assert [each.payload.text for each in events if isinstance(each.payload, TextDelta)] == ["do", "ne"]
    assert [each.type for each in events].count("run_started") == 1
    (watch,) = server.requests("Watch")
    assert watch == pb.WatchRequest(thread_id="t-1", thread_uid="u", after_version=1, run_id="u.r1")


async def test_a_stream_that_is_cut_is_joined_again(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, cut))
    server.on("Watch", streams(cut), streams(END))
    assert (await client.thread("t-1").send("hi")).text == "done"


async def test_a_stream_that_ends_without_a_last_word_is_joined_again(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING))
    server.on("Watch", streams(END))
    assert (await client.thread("t-1").send("hi")).text == "done"


async def test_a_version_that_came_in_part_is_asked_for_again_and_given_once(
    server: ScriptedServer, client: Client
) -> None:
    server.on("Send", streams([started(1)], broken))
    server.on("Watch", streams(turn()))
    assert (await types(client.thread("t-1").stream("hi"))).count("run_started") == 1
    assert server.requests("Watch")[0].after_version == 0


async def test_what_broke_before_it_started_is_sent_again_with_the_same_request_id(
    server: ScriptedServer, client: Client
) -> None:
    server.on("Send", streams([queued()], broken), streams(turn()))
    reply = await client.thread("t-1").send("hi", request_id="r-1")
    assert reply.text == "done"
    first, second = server.requests("Send")
    assert first == second
    assert first.request_id == "r-1"


async def test_requests_get_ids_of_their_own(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(turn()))
    thread = client.thread("t-1")
    await thread.send("hi")
    await thread.send("hi")
    first, second = (request.request_id for request in server.requests("Send"))
    assert first
    assert first != second


async def test_a_refusal_that_says_unavailable_is_retried_by_the_service_config(
    server: ScriptedServer, client: Client
) -> None:
    refused = streams(refuses(grpc.StatusCode.UNAVAILABLE, "STORAGE_UNAVAILABLE"))
    server.on("Retry", refused, streams(turn()))
    assert (await client.thread("t-1").retry()).status == "completed"
    assert len(server.requests("Retry")) == 2


async def test_a_server_that_comes_back_on_the_same_port_is_found_again(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("Watch", streams(END))
    stream = aiter(client.thread("t-1").stream("hi"))
    assert (await anext(stream)).type == "run_started"
    await server.stop()
    await server.start()
    assert [each.type async for each in stream][-1] == "run_completed"


async def test_a_connection_that_is_severed_is_made_anew(server: ScriptedServer) -> None:
    severed: list[asyncio.StreamWriter] = []
    pipes: set[asyncio.Task[None]] = set()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server = await asyncio.open_connection("127.0.0.1", server.port)
        severed.extend((writer, to_server[1]))
        for ends in ((reader, to_server[1]), (to_server[0], writer)):
            task = asyncio.create_task(pipe(*ends))
            pipes.add(task)

    server.on("Send", streams(BEGINNING, for_ever))
    server.on("Watch", streams(END))
    proxy = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with Client(f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}") as client:
        stream = aiter(client.thread("t-1").stream("hi"))
        await anext(stream)
        for writer in severed:
            writer.transport.abort()
        assert [each.type async for each in stream][-1] == "run_completed"
    await asyncio.gather(*pipes)  # the client that is closed has closed its connections
    proxy.close()
    assert server.names() == ["Send", "Watch"]


async def test_a_run_whose_process_died_is_reported_as_interrupted(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, broken))
    interrupted = refuses(grpc.StatusCode.FAILED_PRECONDITION, "THREAD_INTERRUPTED", run_id="u.r1")
    server.on("Watch", streams(interrupted))
    with pytest.raises(ThreadInterruptedError) as raised:
        await client.thread("t-1").send("hi")
    assert raised.value.metadata["run_id"] == "u.r1"


async def test_a_thread_that_is_deleted_meanwhile_ends_its_stream(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, refuses(grpc.StatusCode.NOT_FOUND, "THREAD_NOT_FOUND", thread_id="t-1")))
    with pytest.raises(ThreadNotFoundError):
        await types(client.thread("t-1").stream("hi"))
    assert server.names() == ["Send"]


async def test_a_refusal_is_raised_and_not_tried_again(server: ScriptedServer, client: Client) -> None:
    busy = refuses(grpc.StatusCode.ABORTED, "THREAD_BUSY", text="wait", retry_after=1.5, thread_id="t-1")
    server.on("Send", streams([queued()], busy))
    with pytest.raises(ThreadBusyError, match="wait") as raised:
        await client.thread("t-1").send("hi")
    assert (raised.value.code, raised.value.retry_after) == ("thread_busy", 1.5)
    assert server.names() == ["Send"]


async def test_a_stream_that_stays_broken_is_given_up_in_time(server: ScriptedServer, client: Client) -> None:
    client.settings = replace(client.settings, rejoin_timeout=0.2)
    server.on("Send", streams(BEGINNING))
    server.on("Watch", streams())
    with pytest.raises(StreamCutError) as raised:
        await client.thread("t-1").send("hi")
    assert raised.value.metadata["version"] == "1"
    assert len(server.requests("Watch")) > 1


async def test_a_server_that_is_not_there_is_given_up_soon() -> None:
    async with Client("127.0.0.1:1", connect_timeout=0.1) as client:
        with pytest.raises(UnavailableError):
            await client.thread("t-1").send("hi")
        with pytest.raises(UnavailableError):
            await client.thread("t-1").info()


async def test_silence_of_a_run_at_work_counts_as_a_broken_connection(server: ScriptedServer, client: Client) -> None:
    client.settings = replace(client.settings, silence_timeout=0.05)
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("Watch", streams(END))
    assert (await client.thread("t-1").send("hi")).text == "done"


async def test_a_timeout_ends_the_call_and_not_the_run(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    with pytest.raises(DeadlineExceededError):
        await client.thread("t-1").send("hi", timeout=0.2)
    assert server.names() == ["Send"]


async def test_the_run_goes_on_when_a_stream_breaks_by_itself(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(turn()))
    await client.thread("t-1").send("hi")
    assert server.requests("Send")[0].options.on_disconnect == run_pb2.DISCONNECT_POLICY_CONTINUE


async def test_breaking_out_of_the_loop_cancels_the_run_and_the_call(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", replies(CANCELLED))
    async for each in client.thread("t-1", actor="ada").stream("hi"):
        if each.type == "text_delta":
            break
    await server.left.wait()
    (cancel,) = server.requests("CancelRun")
    assert (cancel.thread_id, cancel.run_id, cancel.actor) == ("t-1", "u.r1", "ada")
    assert server.cancelled == ["Send"]


async def test_closing_a_stream_waits_until_its_run_is_cancelled(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", replies(CANCELLED))
    async with client.thread("t-1").stream("hi") as stream:
        async for each in stream:
            assert each.type == "run_started"
            break
    assert server.names() == ["Send", "CancelRun"]


async def test_an_iterator_that_is_closed_cancels_the_run(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", replies(CANCELLED))
    async with aclosing(aiter(client.thread("t-1").stream("hi"))) as events:
        await anext(events)
    assert server.names() == ["Send", "CancelRun"]


async def test_cancelling_the_task_cancels_the_run(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", replies(CANCELLED))
    task = asyncio.create_task(client.thread("t-1").send("hi"))
    await server.arrived["Send"].wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.names() == ["Send", "CancelRun"]


NOT_COME = refuses(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND")


async def leave_the_queue(client: Client) -> None:
    async with client.thread("t-1").stream("hi", request_id="r-1") as stream:
        async for each in stream:
            assert each.type == "run_queued"
            break


async def test_a_request_that_waits_is_withdrawn_by_its_id(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([queued()], for_ever))
    server.on("CancelRun", replies(CANCELLED))
    await leave_the_queue(client)
    await server.left.wait()
    assert server.names() == ["Send", "CancelRun"]
    (cancel,) = server.requests("CancelRun")
    assert (cancel.run_id, cancel.started_by_request_id) == ("", "r-1")
    assert cancel.request_id not in ("", "r-1")


async def test_leaving_while_a_request_is_about_to_be_sent_again_sends_it_no_more(
    server: ScriptedServer, client: Client
) -> None:
    client.settings = replace(client.settings, backoff=(30.0, 30.0))
    server.on("Send", streams([queued()], broken))
    server.on("CancelRun", NOT_COME)
    events = aiter(client.thread("t-1").stream("hi"))
    await anext(events)
    reading = asyncio.ensure_future(anext(events))
    await asyncio.wait((reading,), timeout=0.1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert server.names() == ["Send", "CancelRun"]


async def test_leaving_before_anything_came_cancels_what_the_request_began(
    server: ScriptedServer, client: Client
) -> None:
    server.on("Send", streams(for_ever))
    server.on("CancelRun", replies(CANCELLED))
    task = asyncio.create_task(client.thread("t-1").send("hi", request_id="r-1"))
    await server.arrived["Send"].wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [each.started_by_request_id for each in server.requests("CancelRun")] == ["r-1"]


@pytest.mark.parametrize("missing", ["RUN_NOT_FOUND", "THREAD_NOT_FOUND"])
async def test_a_request_that_comes_after_its_cancel_is_cancelled_when_it_says_something(
    server: ScriptedServer, client: Client, missing: str
) -> None:
    comes = asyncio.Event()

    async def not_yet(_request: object, context: grpc.aio.ServicerContext[object, object]) -> None:
        comes.set()
        await refuses(grpc.StatusCode.NOT_FOUND, missing)(context)

    server.on("Send", streams(waits_for(comes), BEGINNING, for_ever))
    server.on("CancelRun", not_yet, replies(CANCELLED))
    task = asyncio.create_task(client.thread("t-1").send("hi", request_id="r-1"))
    await server.arrived["Send"].wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    named = [(each.run_id, each.started_by_request_id) for each in server.requests("CancelRun")]
    assert named == [("", "r-1"), ("u.r1", "")]


async def test_a_request_that_is_refused_while_it_is_left_leaves_nothing_to_cancel(
    server: ScriptedServer, client: Client
) -> None:
    server.on("Send", streams(refuses(grpc.StatusCode.ABORTED, "VERSION_CONFLICT")))
    server.on("CancelRun", NOT_COME)
    events = aiter(client.thread("t-1").stream("hi"))
    reading = asyncio.ensure_future(anext(events))
    await server.arrived["Send"].wait()
    reading.cancel()
    with suppress(asyncio.CancelledError, ClewError):
        await reading
    assert len(server.requests("CancelRun")) <= 1


async def test_leaving_after_the_last_word_cancels_nothing(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(turn()))
    async with client.thread("t-1").stream("hi") as stream:
        async for each in stream:
            if each.payload.terminal:
                break
    assert server.names() == ["Send"]


async def test_closing_the_client_leaves_what_is_open(server: ScriptedServer) -> None:
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", replies(CANCELLED))
    async with Client(server.target) as client:
        events = aiter(client.thread("t-1").stream("hi"))
        await anext(events)
    await server.left.wait()
    assert server.names() == ["Send", "CancelRun"]
    with pytest.raises(ClewError, match="left"):
        assert not [each async for each in events if each.payload.terminal]


async def test_a_run_that_cannot_be_cancelled_in_time_is_left_all_the_same(
    server: ScriptedServer, client: Client
) -> None:
    client.settings = replace(client.settings, leave_timeout=0.05)
    server.on("Send", streams(BEGINNING, for_ever))
    server.on("CancelRun", lambda _request, _context: asyncio.Event().wait())
    async with client.thread("t-1").stream("hi") as stream:
        async for _ in stream:
            break
    await server.left.wait()


async def test_a_watch_that_is_left_cancels_nothing(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(BEGINNING, for_ever))
    async with client.thread("t-1").watch() as stream:
        async for _ in stream:
            break
    await server.left.wait()
    assert server.names() == ["Watch"]


async def test_a_watch_ends_when_the_thread_is_at_rest(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), turn(3)))
    seen = await types(client.thread("t-1").watch())
    assert seen.count("run_completed") == 2
    assert len(server.requests("Watch")) == 1


async def test_a_watch_of_a_run_ends_with_it(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), for_ever))
    assert (await types(client.thread("t-1").watch(run_id="u.r1")))[-1] == "run_completed"


async def test_a_watch_that_breaks_goes_on_after_its_cursor(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn(), broken), streams(cut), streams(turn(3), for_ever))
    seen = []
    async for each in client.thread("t-1").watch(follow=True):
        seen.append(each.version)
        if each.payload.terminal and each.version == 4:
            break
    assert sorted(set(seen)) == [1, 2, 3, 4]
    assert [request.after_version for request in server.requests("Watch")] == [0, 2, 2]
    assert [request.thread_uid for request in server.requests("Watch")] == ["", "u", "u"]


async def test_a_watch_that_follows_does_not_end_with_a_run(server: ScriptedServer, client: Client) -> None:
    server.on("Watch", streams(turn()), streams(turn(3), for_ever))
    async for each in client.thread("t-1").watch(follow=True):
        if each.version == 4:
            break
    assert len(server.requests("Watch")) == 2


async def test_a_kind_that_is_not_known_is_passed_over(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([event(0)], [*turn()[:2], event(1)], turn()[2:]))
    assert (await client.thread("t-1").send("hi")).text == "done"


async def test_a_run_that_failed_raises_why(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([*BEGINNING, failed(2, "MODEL_UNAVAILABLE", retryable=True)]))
    with pytest.raises(RunFailedError, match="it failed") as raised:
        await client.thread("t-1").send("hi")
    error = raised.value
    assert (error.failure_code, error.retryable, error.run_id) == ("model_unavailable", True, "u.r1")
    assert error.metadata == {"model": "m"}


async def test_a_stream_gives_the_failure_as_an_event(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([*BEGINNING, failed(2, "MODEL_UNAVAILABLE")]))
    assert (await types(client.thread("t-1").stream("hi")))[-1] == "run_failed"


async def test_a_run_that_someone_cancelled_raises_an_error_of_its_own(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([*BEGINNING, failed(2, "CANCELLED")]))
    with pytest.raises(RunCancelledError) as raised:
        await client.thread("t-1").send("hi")
    assert raised.value.code == "cancelled"
    assert not isinstance(raised.value, asyncio.CancelledError)


async def test_a_message_too_large_for_the_reply_is_taken_from_its_checkpoint(
    server: ScriptedServer, client: Client
) -> None:
    last = completed(2)
    last.run_completed.reply.ClearField("message")
    server.on("Send", streams([*BEGINNING, END[0], last]))
    reply = await client.thread("t-1").send("hi")
    assert reply.message is not None
    assert reply.message["content"][0]["text"] == "done"


async def test_a_stream_is_iterated_over_once(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams(turn()))
    stream = client.thread("t-1").stream("hi")
    await types(stream)
    with pytest.raises(RuntimeError, match="once"):
        aiter(stream)


async def test_a_run_without_a_thread_is_cancelled_with_its_call(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([started(1), written(1)], for_ever))
    async with client.app("support").stream("hi", limits=None) as stream:
        async for _ in stream:
            break
    await server.left.wait()
    (request,) = server.requests("Send")
    assert (request.thread_id, request.options.on_disconnect) == ("", run_pb2.DISCONNECT_POLICY_CANCEL)
    assert server.names() == ["Send"]


async def test_a_run_without_a_thread_that_broke_cannot_be_joined(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([started(1), written(1)], broken))
    with pytest.raises(UnavailableError):
        await client.app("support").run("hi")
    assert server.names() == ["Send"]


async def test_a_run_without_a_thread_goes_on_from_its_snapshot(server: ScriptedServer, client: Client) -> None:
    pause = suspended(2)
    pause.run_suspended.snapshot = b"sealed"
    server.on("Send", streams([started(1), written(1), pause]))
    server.on("Resume", streams(turn(3)))
    app = client.app("flow")
    paused = await app.run({"order": 1})
    assert (paused.status, paused.snapshot) == ("suspended", b"sealed")
    assert (await app.resume(paused.snapshot, {"ok": True})).status == "completed"
    (request,) = server.requests("Resume")
    assert (request.snapshot, request.value_json) == (b"sealed", '{"ok":true}')


@pytest.mark.parametrize(("value", "sent"), [((), ""), ((None,), "null"), ((0,), "0")])
async def test_no_value_is_another_thing_than_none(
    server: ScriptedServer, client: Client, value: tuple[Any, ...], sent: str
) -> None:
    server.on("Resume", streams(turn()))
    await client.app("flow").resume(b"sealed", *value)
    (request,) = server.requests("Resume")
    assert request.value_json == sent


async def test_approvals_are_decided_from_a_snapshot(server: ScriptedServer, client: Client) -> None:
    server.on("Decide", streams(turn()))
    assert (await client.app("flow").decide(b"sealed", {"a": {"value": 1}, "b": True})).status == "completed"
    (request,) = server.requests("Decide")
    assert (request.thread_id, request.snapshot) == ("", b"sealed")
    assert [each.approval_id for each in request.decisions] == ["a", "b"]
    assert request.options.on_disconnect == run_pb2.DISCONNECT_POLICY_CANCEL
