"""Snapshots that somebody edited by hand, each value in turn: they are refused by a word of ours, or they run; nothing else comes out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from clew_engine import Agent, ClewError, OfflineModel, Workflow, WorkflowApp, append, pause, step, tool
from clew_engine.models import after, otherwise
from tests.workflows.snapshot_apps import asking, failed, failing, travelled

GONE = object()
EDITS: list[Any] = [
    GONE, None, True, 0, 1, -1, 2**36, 2**70, 10**400, 1.5, "", "x", "a/b", "a:0", "\x00", "1", "{", "[1]", "\ud800", "é" * 2000,
    "value", "result", "approve", "tool_outcome", "suspended", "\x00returned", "reply 0", "call_2_0#result", "changes 0", "teller/x",
    [], ["x"], [[]], [1], {}, {"x": 1}, {"x": {}},
]  # fmt: skip
REFUSALS = {
    "argument_invalid", "resume_invalid", "state_invalid", "id_invalid", "state_too_large", "approval_not_found", "call_not_pending",
    "approval_expired",
}  # fmt: skip


@tool(approve=True)
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def an_agent_inside() -> WorkflowApp:
    """A node pauses, beside it an agent asks for an approval, and a third one is done with a step recorded."""
    flow = Workflow("inside", reducers={"log": append})
    model = OfflineModel([after("pay").say("done {result}"), otherwise.call("pay", amount=3)])
    flow.agent(Agent("teller", model=model, tools=[pay]), ask=lambda _: "pay", keep="said")
    flow.node(lambda _: {"log": [pause("sure?", {"type": "integer"})]}, name="ask")

    @flow.node
    async def done(_: Any) -> dict[str, Any]:
        return {"log": [await step("once", lambda: "a", once=True)]}

    flow.start("teller", "ask", "done")
    flow.node(lambda _: {}, name="end")
    flow.edge(["teller", "ask", "done"], "end")
    return flow.compile()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*path, key)
        yield from places(each, (*path, key))


def edited(snapshot: dict[str, Any], path: tuple[Any, ...], edit: Any) -> dict[str, Any]:
    """The snapshot with another value at the place."""
    made = deepcopy(snapshot)
    around: Any = made
    for key in path[:-1]:
        around = around[key]
    if edit is GONE:
        del around[path[-1]]
    else:
        around[path[-1]] = edit
    return made


async def asked() -> tuple[WorkflowApp, dict[str, Any], Any]:
    app = asking("a")
    return app, travelled((await app.run()).snapshot), 1


async def broken() -> tuple[WorkflowApp, dict[str, Any], Any]:
    app = failing(1, [])
    return app, await failed(app.run()), ...


async def inside() -> tuple[WorkflowApp, dict[str, Any], Any]:
    app = an_agent_inside()
    snapshot = travelled((await app.run()).snapshot)
    return (
        app,
        snapshot,
        {each["subject"]: {"value": 1} if each["kind"] == "pause" else True for each in snapshot["approvals"]},
    )


async def answered_in_part() -> tuple[WorkflowApp, dict[str, Any], Any]:
    app, snapshot, answers = await inside()
    first = next(iter(answers))
    later = travelled((await app.decide(snapshot, {first: answers.pop(first)})).snapshot)
    return app, later, answers


async def answered_the_pause() -> tuple[WorkflowApp, dict[str, Any], Any]:
    app, snapshot, answers = await inside()
    later = travelled((await app.decide(snapshot, {"ask:0": answers.pop("ask:0")})).snapshot)
    return app, later, answers


@pytest.mark.parametrize(
    "make", [asked, broken, inside, answered_in_part, answered_the_pause], ids=lambda make: make.__name__
)
async def test_every_value_may_be_edited_and_what_does_not_fit_is_refused(
    make: Callable[[], Awaitable[tuple[WorkflowApp, dict[str, Any], Any]]],
) -> None:
    app, snapshot, answer = await make()
    go_on = app.decide if isinstance(answer, dict) else app.resume
    assert (await go_on(snapshot, answer)).status == "completed"
    wrong = []
    refused = 0
    for path in places(snapshot):
        for edit in EDITS:
            given = edited(snapshot, path, edit)
            try:
                async with asyncio.timeout(5):
                    await go_on(given, answer)
            except ClewError as error:
                refused += 1
                if error.code not in REFUSALS:
                    wrong.append((path, edit, error.code, str(error)[:150]))
            except Exception as error:  # noqa: BLE001 - what the test is about
                wrong.append((path, edit, type(error).__name__, str(error)[:150]))
    assert not wrong, "\n".join(map(str, wrong))
    assert refused > 100
    assert not app.storage.scratches
    assert json.dumps(snapshot)
