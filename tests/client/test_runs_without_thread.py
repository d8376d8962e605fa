"""Runs without a thread: their stream is all that there is of them."""

from __future__ import annotations

from typing import Any

import pytest

from clew import Client, UnavailableError
from clew.v1 import run_pb2
from tests.client.scripted import ScriptedServer, broken, for_ever, streams
from tests.client.telling import started, suspended, turn, written


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
