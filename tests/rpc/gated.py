"""Runs that wait at a gate, and what is asked of them meanwhile."""

from __future__ import annotations

from typing import Any

from clew.v1 import event_pb2
from clew.v1.run_pb2 import DISCONNECT_POLICY_CANCEL, DISCONNECT_POLICY_CONTINUE, RunOptions
from clew.v1.run_service_pb2 import SendRequest, WatchRequest
from clew.v1.thread_pb2 import Thread
from clew.v1.thread_service_pb2 import GetThreadRequest
from tests.rpc.agents import Gate
from tests.support.serving import Served, events_of

CONTINUE = RunOptions(on_disconnect=DISCONNECT_POLICY_CONTINUE)
LEAVING = {
    "unspecified": RunOptions(),
    "cancel": RunOptions(on_disconnect=DISCONNECT_POLICY_CANCEL),
    "continue": CONTINUE,
}


async def thread_of(served: Served, thread_id: str = "t") -> Thread:
    return (await served.threads.GetThread(GetThreadRequest(thread_id=thread_id))).thread


async def begun(served: Served, gate: Gate, **more: Any) -> Any:
    """A send whose tool waits at the gate, and that was read up to there."""
    call: Any = served.runs.Send(SendRequest(thread_id="t", text="wait", **more))
    while not any(event.HasField("tool_call_started") for event in (await call.read()).events):
        pass
    await gate.began.wait()
    return call


async def settled(served: Served) -> list[event_pb2.Event]:
    """The thread's events up to where its run ends."""
    return await events_of(served.runs.Watch(WatchRequest(thread_id="t")))
