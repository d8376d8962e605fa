"""Workflows that pause or fail, for the tests of snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from clew_engine import Workflow, WorkflowApp, append, pause, step
from clew_engine.errors import RunFailedError


def travelled(snapshot: Any) -> Any:
    """A snapshot as it comes back from wherever it was kept."""
    assert isinstance(snapshot, dict)
    return json.loads(json.dumps(snapshot))


def noting(did: list[str], what: str, result: str) -> Callable[[], str]:
    """A function that notes what it did."""

    def act() -> str:
        did.append(what)
        return result

    return act


def asking(*names: str, name: str = "asking") -> WorkflowApp:
    """A workflow whose nodes all ask in one step."""
    flow = Workflow(name, reducers={"log": append})
    for each in names:

        def node(_: Any, each: str = each) -> dict[str, Any]:
            return {"log": [[each, pause({"for": each}, {"type": "integer"})]]}

        flow.node(node, name=each)
    flow.start(*names)
    return flow.compile()


def failing(times: int, did: list[str]) -> WorkflowApp:
    """A workflow of two steps whose second fails so many times, after a step of its own."""
    flow = Workflow("failing", reducers={"log": append})

    @flow.node
    async def first(_: Any) -> dict[str, Any]:
        did.append("first")
        return {"log": ["first"]}

    @flow.node
    async def second(_: Any) -> dict[str, Any]:
        did.append("second")
        order = await step("order", noting(did, "order", "o-1"))
        paid = await step("pay", noting(did, "pay", "paid"))
        if did.count("second") <= times:
            raise ValueError("not yet")
        return {"log": [order, paid]}

    flow.start("first")
    flow.edge("first", "second")
    return flow.compile()


async def failed(run: Any) -> dict[str, Any]:
    """The snapshot that a run fails with."""
    with pytest.raises(RunFailedError) as error:
        await run
    return travelled(error.value.snapshot)  # type: ignore[no-any-return]
