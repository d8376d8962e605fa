"""A workflow that is served and run without a thread, for the tests of sealed snapshots."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from clew.v1.event_pb2 import Event
from clew.v1.run_service_pb2 import SendRequest
from clew_engine import Workflow, WorkflowApp, append, pause, step
from tests.support.serving import Served, events_of

# All that a caller is told of a seal that does not open.
NOTHING_MORE = "this server sealed no such snapshot"


def a_key() -> str:
    """A key as the settings take it."""
    return base64.b64encode(os.urandom(32)).decode()


def adding(name: str = "adding", *, broken: bool = False) -> WorkflowApp:
    """Counts, asks how much to add, and fails when told to."""
    flow = Workflow(name, reducers={"log": append})

    @flow.node
    async def add(state: Any) -> dict[str, Any]:
        began = await step("begin", lambda: "begun")
        more = pause({"now": state["count"]}, {"type": "integer"})
        return {"count": state["count"] + more, "log": [began]}

    @flow.node
    def check(_: Any) -> dict[str, Any]:
        if broken:
            raise ValueError("it is broken")
        return {"log": ["checked"]}

    flow.start("add")
    flow.edge("add", "check")
    return flow.compile()


async def sent(served: Served, **values: Any) -> list[Event]:
    """The events of a run without a thread."""
    return await events_of(served.runs.Send(SendRequest(input_json=json.dumps({"count": 1, **values}).encode())))


async def paused(served: Served, **values: Any) -> bytes:
    """The snapshot of a run that waits."""
    return (await sent(served, **values))[-1].run_suspended.snapshot
