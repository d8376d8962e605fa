"""Readers that do not keep up: cut off with their cursor, and no run waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from clew.v1 import event_pb2
from clew.v1.run_service_pb2 import (
    SendRequest,
    WatchRequest,
)
from clew.v1.thread_pb2 import RUN_STATE_RUNNING
from clew_engine import Agent, OfflineModel, Storage, Tuning, tool
from clew_engine.models.offline_rules import after, otherwise
from tests.rpc.agents import Gate, echo
from tests.rpc.gated import LEAVING, begun, settled, thread_of
from tests.support.serving import events_of, read_refusal, refusal, serving


async def test_a_reader_that_does_not_keep_up_is_cut_off_with_its_cursor_and_holds_nothing_back() -> None:
    async with serving([echo()], reader_bytes=4 << 20, stall=0.5) as served:
        watch = None
        for number in range(12):
            text = f"{number} " + "x" * 1_000_000
            await events_of(served.runs.Send(SendRequest(thread_id="t", text=text)))
            if watch is None:
                watch = served.runs.Watch(WatchRequest(thread_id="t", follow=True))
                await watch.read()
        assert watch is not None
        seen: list[event_pb2.Event] = []
        with pytest.raises(grpc.aio.AioRpcError) as ended:
            await events_of(watch, seen)
        refused = read_refusal(ended.value)
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "STREAM_CUT")
        cursor = int(refused.metadata["version"])
        rest = await events_of(served.runs.Watch(WatchRequest(thread_id="t", after_version=cursor)))
        versions = [event.version for event in (*seen, *rest) if event.last_of_version]
        assert set(versions) >= set(range(2, 25))


@tool
def make_noise() -> str:
    """Make much of nothing."""
    return "z" * 2_000_000


async def test_a_run_whose_own_reader_reads_nothing_goes_on_whatever_was_asked(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = otherwise
    for _ in range(8):
        noise = noise.call("make_noise")
    rules = [after("wait").say("Through."), after("make_noise").call("wait"), noise]
    noisy = Agent("noisy", model=OfflineModel(rules), tools=[make_noise, tool(gate.wait)])
    # A queue that holds all of it: what ends the stream is that gRPC takes no more.
    storage = Storage("memory://", tuning=Tuning(reader_bytes=64 << 20))
    async with storage, serving([noisy], storage, stall=0.3) as served:
        given_up = asyncio.Event()
        hub = served.storage.hub
        unsubscribe = hub.unsubscribe

        def noted(*reader: Any) -> None:
            unsubscribe(*reader)
            given_up.set()

        monkeypatch.setattr(hub, "unsubscribe", noted)
        call = served.runs.Send(SendRequest(thread_id="t", text="go", options=LEAVING["cancel"]))
        await call.read()
        await gate.began.wait()
        await given_up.wait()
        assert (await thread_of(served)).run.state == RUN_STATE_RUNNING
        with pytest.raises(grpc.aio.AioRpcError) as cut:
            await events_of(call)
        assert read_refusal(cut.value).reason == "STREAM_CUT"
        gate.opened.set()
        cursor = int(read_refusal(cut.value).metadata["version"])
        rest = await events_of(served.runs.Watch(WatchRequest(thread_id="t", after_version=cursor)))
        assert rest[-1].run_completed.reply.text == "Through."
        assert gate.cancelled == 0


async def test_a_run_whose_own_reader_is_cut_off_goes_on() -> None:
    gate = Gate()
    async with serving([gate.agent, echo()]) as served:
        call = await begun(served, gate, app="gate")
        served.storage.hub.fail_all("its reader did not keep up")
        refused = await refusal(call)
        assert refused.reason == "STREAM_CUT"
        assert (await thread_of(served)).run.state == RUN_STATE_RUNNING
        gate.opened.set()
        assert (await settled(served))[-1].HasField("run_completed")
        assert gate.cancelled == 0
