"""Steps of a workflow: what nodes change, what follows them, and what is refused."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest

from clew_engine import END, ClewError, Limits, Storage, Thread, Workflow, append, merge
from clew_engine.errors import ArgumentInvalidError, RunFailedError, StateInvalidError
from clew_engine.workflows.steps import pause
from clew_storage import ThreadFilter, ThreadKey


class State(TypedDict, total=False):
    """What the workflows of these tests keep."""

    count: int
    log: Annotated[list[str], append]
    seen: Annotated[dict[str, int], merge]


async def test_nodes_change_the_state_and_edges_lead_on(storage: Storage) -> None:
    flow = Workflow("count", state=State)

    @flow.node
    async def first(state: Any) -> dict[str, Any]:
        return {"count": state["count"] + 1, "log": ["first"]}

    @flow.node
    def second(state: Any) -> dict[str, Any]:
        return {"count": state["count"] * 10, "log": ["second"]}

    flow.start("first")
    flow.edge("first", "second")
    result = await flow.compile(storage).thread("t").run({"count": 1})
    assert (result.status.value, result.steps) == ("completed", 2)
    assert result.state == {"count": 20, "log": ["first", "second"]}


async def test_nodes_of_one_step_see_the_state_before_it_and_are_merged_by_their_reducers(storage: Storage) -> None:
    flow = Workflow("fan", state=State)
    both = asyncio.Barrier(2)
    for name in ("b", "a"):

        async def node(state: Any, name: str = name) -> dict[str, Any]:
            assert state.get("log") is None
            await both.wait()
            return {"log": [name], "seen": {name: 1}}

        flow.node(node, name=name)
    flow.start("a", "b")
    result = await flow.compile(storage).thread("t").run()
    # In the order of their declaration, whichever was done first.
    assert result.state == {"log": ["b", "a"], "seen": {"b": 1, "a": 1}}


async def test_two_nodes_of_one_step_that_write_a_key_without_a_reducer_are_named(storage: Storage) -> None:
    flow = Workflow("clash", state=State)
    flow.node(lambda _: {"count": 1}, name="left")
    flow.node(lambda _: {"count": 2}, name="right")
    flow.start("left", "right")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match=r"'left' and 'right'.*'count'") as failure:
        await thread.run()
    assert failure.value.failure_code == "state_conflict"
    assert await thread.state() == {}


async def test_a_join_waits_for_all_of_its_sources(storage: Storage) -> None:
    flow = Workflow("join", state=State)
    for name in ("short", "long", "longer", "end"):
        flow.node(lambda _, name=name: {"log": [name]}, name=name)
    flow.start("short", "long")
    flow.edge("long", "longer")
    flow.edge(("short", "longer"), "end")
    result = await flow.compile(storage).thread("t").run()
    assert result.state["log"] == ["short", "long", "longer", "end"]


async def test_a_branch_of_the_state_may_loop_until_the_limit_of_steps(storage: Storage) -> None:
    flow = Workflow("loop", state=State, limits=Limits(steps=5))
    flow.node(lambda state: {"count": state["count"] + 1}, name="more")
    flow.start("more")
    flow.branch("more", lambda state: END if state["count"] >= 12 else "more", ["more"])
    thread = flow.compile(storage).thread("t")
    for reached in (5, 10):
        with pytest.raises(RunFailedError) as failure:
            await (thread.run({"count": 0}) if reached == 5 else thread.retry())
        assert failure.value.failure_code == "limit_exceeded"
        assert (await thread.state())["count"] == reached
    await thread.retry()
    assert (await thread.result()).state == {"count": 12}


async def test_a_branch_may_begin_a_run_and_name_several_nodes(storage: Storage) -> None:
    flow = Workflow("choose", state=State)
    for name in ("a", "b", "c"):
        flow.node(lambda _, name=name: {"log": [name]}, name=name)
    flow.branch("__start__", lambda state: ["a", "c"] if state["count"] else "b")
    thread = flow.compile(storage).thread("t")
    assert (await thread.run({"count": 1})).state["log"] == ["a", "c"]
    assert (await thread.run({"count": 0})).state["log"] == ["a", "c", "b"]


@pytest.mark.parametrize("wrong", [{"count": "many"}, {"other": 1}, {"messages": []}])
async def test_input_that_does_not_fit_is_refused_and_nothing_is_written(storage: Storage, wrong: Any) -> None:
    flow = Workflow("typed", state=State)
    flow.node(lambda _: None, name="only")
    flow.start("only")
    app = flow.compile(storage)
    with pytest.raises((StateInvalidError, ArgumentInvalidError)):
        await app.thread("t").run(wrong)
    assert await storage.backend.threads.get_head(app.thread("t").key) is None


@pytest.mark.parametrize("wrong", [{"count": "many"}, {"other": 1}, ["count"], {"count": float("nan")}])
async def test_what_a_node_returns_is_checked_and_a_retry_runs_it_again(storage: Storage, wrong: Any) -> None:
    flow = Workflow("typed", state=State)
    returned = [wrong, {"count": 7}]
    flow.node(lambda _: returned.pop(0), name="only")
    flow.start("only")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="'only' failed"):
        await thread.run()
    await thread.retry()
    assert await thread.state() == {"count": 7}


async def test_what_a_node_did_beside_one_that_failed_is_not_done_again(storage: Storage) -> None:
    flow = Workflow("half", state=State)
    ran: list[str] = []

    @flow.node
    async def good(_: Any) -> dict[str, Any]:
        ran.append("good")
        return {"log": ["good"]}

    @flow.node
    async def bad(_: Any) -> dict[str, Any]:
        ran.append("bad")
        if ran.count("bad") == 1:
            raise ValueError("not yet")
        return {"log": ["bad"]}

    flow.start("good", "bad")
    thread = flow.compile(storage).thread("t")
    with pytest.raises(RunFailedError, match="not yet"):
        await thread.run()
    await thread.retry()
    assert await thread.state() == {"log": ["good", "bad"]}
    assert (ran.count("good"), ran.count("bad")) == (1, 2)


def test_a_graph_that_cannot_run_is_refused_when_it_is_compiled() -> None:
    nowhere = Workflow("w")
    nowhere.node(lambda _: None, name="a")
    with pytest.raises(ArgumentInvalidError, match="where it begins"):
        nowhere.compile()
    lost = Workflow("w")
    lost.node(lambda _: None, name="a")
    lost.node(lambda _: None, name="b")
    lost.start("a")
    with pytest.raises(ArgumentInvalidError, match="'b'"):
        lost.compile()
    lost.edge("a", "c")
    with pytest.raises(ArgumentInvalidError, match="'c'"):
        lost.compile()
    with pytest.raises(ArgumentInvalidError, match="two nodes"):
        lost.node(lambda _: None, name="a")


async def test_a_message_sent_to_a_workflow_is_refused(storage: Storage) -> None:
    flow = Workflow("w")
    flow.node(lambda _: None, name="a")
    flow.start("a")
    program = flow.compile(storage).program
    with pytest.raises(ClewError) as refusal:
        await Thread(storage, ThreadKey("", "t"), program).send("hello")
    assert refusal.value.code == "argument_invalid"


async def test_a_run_without_a_thread_keeps_nothing_also_where_it_waits_for_a_person(storage: Storage) -> None:
    flow = Workflow("w", state=State)
    flow.node(lambda state: {"count": state["count"] + 1}, name="a")
    flow.start("a")
    assert (await flow.compile(storage).run({"count": 1})).state == {"count": 2}
    asks = Workflow("asks")
    asks.node(lambda _: {"answer": pause("well?")}, name="a")
    asks.start("a")
    result = await asks.compile(storage).run()
    assert (result.status.value, result.state) == ("suspended", {})
    assert result.snapshot is not None
    assert not await storage.backend.threads.list_threads("", ThreadFilter(), by_update=False, after=None, limit=9)
