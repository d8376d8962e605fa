"""Streams that are left: the run is cancelled by name, unless its caller wanted nothing of the kind."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace

import grpc
import pytest

from clew import ClewError, Client
from clew.v1 import run_pb2
from tests.client.scripted import ScriptedServer, broken, for_ever, refuses, replies, streams, waits_for
from tests.client.telling import BEGINNING, CANCELLED, queued, turn

NOT_COME = refuses(grpc.StatusCode.NOT_FOUND, "RUN_NOT_FOUND")


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


async def test_a_request_that_waits_is_withdrawn_by_its_id(server: ScriptedServer, client: Client) -> None:
    server.on("Send", streams([queued()], for_ever))
    server.on("CancelRun", replies(CANCELLED))
    async with client.thread("t-1").stream("hi", request_id="r-1") as stream:
        async for each in stream:
            assert each.type == "run_queued"
            break
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
