"""A run that asks more than one event has room for: a caller of the client is given all of it, as in process."""

from __future__ import annotations

from typing import Any

from clew import Client
from clew_engine import Storage, Workflow, WorkflowApp, append, pause
from tests.support.serving import serving

NAMES = [f"ask{number}" for number in range(7)]


def asking_much() -> WorkflowApp:
    """Nodes that ask 700 KB each in one step."""
    flow = Workflow("much", reducers={"log": append})
    for name in NAMES:

        def node(_: Any, name: str = name) -> dict[str, Any]:
            return {"log": [pause(name + "x" * 700_000)]}

        flow.node(node, name=name)
    flow.start(*NAMES)
    return flow.compile()


async def test_a_result_has_all_approvals_however_large(storage: Storage) -> None:
    async with serving([asking_much()], storage) as served, Client(served.target) as client:
        flow = client.workflow("much")
        thread = flow.thread("t")
        result = await thread.run()
        assert [each.subject for each in result.approvals] == [f"{name}:0" for name in NAMES]
        # One is answered: the others wait, and this attempt did not ask them.
        result = await thread.decide({result.approvals[0].id: {"value": 1}})
        assert [each.subject for each in result.approvals] == [f"{name}:0" for name in NAMES[1:]]
        events = [event async for event in thread.watch()]
        told: Any = events[-1].payload
        assert len(told.approvals) < told.approval_count == 6


async def test_what_an_approval_is_about_is_the_same_on_each_surface(storage: Storage) -> None:
    flow = Workflow("one")
    flow.node(lambda _: {"got": pause("?")}, name="pay")
    flow.start("pay")
    app = flow.compile(storage)
    here = (await app.run()).approvals
    async with serving([app], storage) as served, Client(served.target) as client:
        result = await client.workflow("one").run()
        assert [each.subject for each in result.approvals] == [each.subject for each in here] == ["pay:0"]
        answered = await client.workflow("one").decide(result.snapshot, {"pay:0": {"value": 7}})
        assert answered.state == {"got": 7}
