"""Streams over a real connection: broken, cut and refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import grpc
import pytest

from clew import (
    Client,
    DeadlineExceededError,
    RunCancelledError,
    RunFailedError,
    StreamCutError,
    TextDelta,
    ThreadBusyError,
    ThreadInterruptedError,
    ThreadNotFoundError,
    UnavailableError,
)
from clew.v1 import run_service_pb2 as pb
from tests.client.scripted import ScriptedServer, broken, cut, for_ever, refuses, streams
from tests.client.telling import BEGINNING, END, completed, delta, event, failed, queued, started, turn, types


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


async def test_an_empty_delta_below_what_was_shown_counts_nothing_back(server: ScriptedServer, client: Client) -> None:
    told = [delta(1, "m2.1", 0, "do"), delta(1, "m2.1", 1, ""), delta(1, "m2.1", 2, "ne"), delta(1, "m2.1", 2, "ne")]
    server.on("Send", streams([*BEGINNING, *told], END))
    events = [each async for each in client.thread("t-1").stream("hi")]
    assert [each.payload.text for each in events if isinstance(each.payload, TextDelta)] == ["do", "ne"]


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
