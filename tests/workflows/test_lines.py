"""Rewinds and copies into the middle of a step, loops with joins, and steps done once that another line has started."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine import END, Storage, Workflow, append, pause, step
from clew_engine.errors import RunFailedError
from clew_engine.workflows.app import WorkflowThread
from tests.workflows.noting import noted


def halves(did: list[str], failing: list[bool]) -> Workflow:
    """Two nodes of one step; the second fails once both of its steps are done."""
    flow = Workflow("halves", reducers={"log": append})

    @flow.node
    async def good(_: Any) -> dict[str, Any]:
        did.append("good")
        return {"log": ["good"]}

    @flow.node
    async def bad(_: Any) -> dict[str, Any]:
        first = await step("first", lambda: noted(did, "first", 1))
        second = await step("second", lambda: noted(did, "second", 2))
        if failing[0]:
            raise ValueError("not yet")
        return {"log": [[first, second]]}

    flow.start("good", "bad")
    return flow


async def failed(thread: WorkflowThread) -> None:
    """Run until it fails."""
    with pytest.raises(RunFailedError):
        await thread.run()


@pytest.mark.parametrize("copied", [False, True])
async def test_what_was_recorded_before_the_target_is_not_done_again_and_what_came_after_is(
    storage: Storage, copied: bool
) -> None:
    did: list[str] = []
    failing = [True]
    app = halves(did, failing).compile(storage)
    thread = app.thread("t")
    await failed(thread)
    assert sorted(did) == ["first", "good", "second"]
    first = (await thread.history(100))[-2]
    assert first["version"] == 2
    if copied:
        await thread.copy("other", first["id"])
        thread = app.thread("other")
    else:
        await thread.rewind(first["id"])
    done_before = did[0]
    failing[0] = False
    did.clear()
    await thread.retry()
    assert await thread.state() == {"log": ["good", [1, 2]]}
    assert done_before not in did
    assert sorted([*did, done_before]) == ["first", "good", "second"]


async def test_a_once_step_that_the_abandoned_line_started_is_for_a_person_to_tell(storage: Storage) -> None:
    paid: list[str] = []
    flow = Workflow("pay")
    flow.node(lambda _: {"ready": True}, name="prepare")

    @flow.node
    async def pay(_: Any) -> dict[str, Any]:
        return {"paid": await step("pay", lambda: noted(paid, "paid", len(paid) + 1), once=True)}

    flow.start("prepare")
    flow.edge("prepare", "pay")
    thread = flow.compile(storage).thread("t")
    await thread.run()
    begun = (await thread.history(100))[-1]
    await thread.rewind(begun["id"])
    result = await thread.retry()
    (waiting,) = result.approvals
    assert (waiting.kind.value, waiting.tool, paid) == ("tool_outcome", "pay", ["paid"])
    await thread.decide({waiting.id: {"result": 1}})
    assert (await thread.state(), paid) == ({"ready": True, "paid": 1}, ["paid"])
    copied = await thread.copy("copy")
    await copied.rewind((await copied.history(100))[-1]["id"])
    (waiting,) = (await copied.retry()).approvals
    assert (waiting.kind.value, paid) == ("tool_outcome", ["paid"]), "a copy knows what its source had started"
    # A run of its own pays anew.
    assert (await thread.run()).state["paid"] == 2


async def test_a_loop_with_a_join_waits_anew_each_time_round(storage: Storage) -> None:
    flow = Workflow("loop", reducers={"log": append})
    for name in ("short", "long", "longer"):
        flow.node(lambda _, name=name: {"log": [name]}, name=name)
    flow.node(lambda state: {"log": ["end"], "round": state.get("round", 0) + 1}, name="end")
    flow.start("short", "long")
    flow.edge("long", "longer")
    flow.edge(("short", "longer"), "end")
    flow.branch("end", lambda state: END if state["round"] == 2 else ["short", "long"], ["short", "long"])
    result = await flow.compile(storage).thread("t").run()
    assert result.state["log"] == ["short", "long", "longer", "end"] * 2
    assert result.steps == 6


async def test_a_join_survives_a_pause_beside_it_and_a_rewind(storage: Storage) -> None:
    flow = Workflow("join", reducers={"log": append})
    flow.node(lambda _: {"log": ["quick"]}, name="quick")
    flow.node(lambda _: {"log": ["slow"]}, name="slow")
    flow.node(lambda _: {"log": [pause("?")]}, name="asking")
    flow.node(lambda _: {"log": ["end"]}, name="end")
    flow.start("quick", "slow")
    flow.edge("slow", "asking")
    flow.edge(("quick", "asking"), "end")
    thread = flow.compile(storage).thread("t")
    await thread.run()
    suspended = (await thread.history(1))[0]
    assert (await thread.resume("a")).state["log"] == ["quick", "slow", "a", "end"]
    await thread.rewind(suspended["id"])
    assert (await thread.resume("b")).state["log"] == ["quick", "slow", "b", "end"]


async def test_a_graph_is_the_one_that_was_compiled(storage: Storage) -> None:
    flow = Workflow("w", reducers={"log": append})
    flow.node(lambda _: {"log": ["a"]}, name="a")
    flow.start("a")
    app = flow.compile(storage)
    flow.node(lambda _: {"log": ["b"]}, name="b")
    flow.edge("a", "b")
    assert (await app.thread("t").run()).state == {"log": ["a"]}


async def test_what_is_counted_are_steps_of_nodes(storage: Storage) -> None:
    flow = Workflow("w")
    flow.node(lambda _: {"a": 1}, name="a")
    flow.branch("__start__", lambda _: "a")
    thread = flow.compile(storage, pause_after=["a"]).thread("t")
    await thread.run()
    assert (await thread.resume(None)).steps == 1
    assert (await flow.compile(storage).thread("u").run()).steps == 1
