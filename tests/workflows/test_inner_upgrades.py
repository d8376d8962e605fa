"""A run that is in the middle of a workflow inside another, and the code that changes under it: nodes are renamed, or named when they are gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew import Client, ResumeInvalidError
from clew_engine import Agent, Migration, OfflineModel, Storage, Workflow, WorkflowApp, errors, pause, step, tool
from clew_engine.errors import ArgumentInvalidError, RunFailedError
from clew_engine.models.offline_rules import after, otherwise
from tests.support.serving import serving

RENAMED = {1: Migration(nodes={"text/write": "author"})}


def version(
    number: int, did: list[str], *, inner: str = "write", outer: str = "text", failing: bool = False, **settings: Any
) -> Workflow:
    """An outer workflow whose one node is a workflow of two: the first looks something up and asks."""
    within = Workflow("text")

    def look() -> str:
        did.append("look")
        return "found"

    async def write(_: Any) -> dict[str, Any]:
        found = await step("look", look)
        if failing:
            raise ValueError("it is broken")
        return {"text": f"{found}: {pause('ok?')}"}

    within.node(lambda _: did.append("prepare"), name="prepare")
    within.node(write, name=inner)
    within.start("prepare")
    within.edge("prepare", inner)
    flow = Workflow("shop", version=number, **settings)
    flow.workflow(within.compile(), name=outer)
    flow.start(outer)
    return flow


async def test_a_node_inside_is_renamed_while_its_pause_waits_and_nothing_is_done_twice(storage: Storage) -> None:
    did: list[str] = []
    await version(1, did).compile(storage).thread("t").run()
    newer = version(2, did, inner="author", migrate=RENAMED).compile(storage).thread("t")
    result = await newer.resume("yes")
    assert (result.status, result.state) == ("completed", {"text": "found: yes"})
    assert did == ["prepare", "look"]


async def test_the_workflow_that_it_is_in_may_be_renamed_with_it(storage: Storage) -> None:
    did: list[str] = []
    await version(1, did).compile(storage).thread("t").run()
    both = {1: Migration(nodes={"text": "story", "text/write": "author"})}
    newer = version(2, did, inner="author", outer="story", migrate=both).compile(storage).thread("t")
    assert (await newer.resume("yes")).state == {"text": "found: yes"}
    assert did == ["prepare", "look"]


async def test_a_node_inside_is_renamed_while_its_run_has_failed(storage: Storage) -> None:
    did: list[str] = []
    with pytest.raises(RunFailedError):
        await version(1, did, failing=True).compile(storage).thread("t").run()
    newer = version(2, did, inner="author", migrate=RENAMED).compile(storage).thread("t")
    assert (await newer.retry()).status == "suspended"
    assert did == ["prepare", "look"]


@pytest.mark.parametrize("failing", [False, True])
async def test_a_node_inside_that_is_gone_is_named_and_nothing_is_written(storage: Storage, failing: bool) -> None:
    did: list[str] = []
    thread = version(1, did, failing=failing).compile(storage).thread("t")
    if failing:
        with pytest.raises(RunFailedError):
            await thread.run()
    else:
        await thread.run()
    newer = version(1, did, inner="author").compile(storage).thread("t")
    before = await newer.history()
    with pytest.raises(errors.ResumeInvalidError, match="'text/write'") as refused:
        await (newer.retry() if failing else newer.resume("yes"))
    assert refused.value.metadata["nodes"] == "text/write"
    assert (await newer.history(), did) == (before, ["prepare", "look"])
    # A way out: the older version still goes on, and a cancelled run leaves the thread free.
    await newer.cancel()
    assert (await newer.run()).status == "suspended"


async def test_a_deploy_over_grpc_names_the_node_that_is_gone_or_renames_it(tmp_path: Path) -> None:
    did: list[str] = []
    url = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([version(1, did).compile()], url) as served, Client(served.target) as client:
        assert (await client.workflow("shop").thread("t").run()).status == "suspended"
    async with serving([version(1, did, inner="author").compile()], url) as served, Client(served.target) as client:
        with pytest.raises(ResumeInvalidError, match="'text/write'"):
            await client.workflow("shop").thread("t").resume("yes")
    newer = version(2, did, inner="author", migrate=RENAMED).compile()
    async with serving([newer], url) as served, Client(served.target) as client:
        assert (await client.workflow("shop").thread("t").resume("yes")).state == {"text": "found: yes"}
    assert did == ["prepare", "look"]


async def test_a_workflow_inside_that_became_a_function_is_named(storage: Storage) -> None:
    did: list[str] = []
    await version(1, did).compile(storage).thread("t").run()
    flow = Workflow("shop")
    flow.node(lambda _: {"text": "new"}, name="text")
    flow.start("text")
    with pytest.raises(errors.ResumeInvalidError, match="'text/prepare'"):
        await flow.compile(storage).thread("t").resume("yes")


async def test_a_snapshot_goes_the_same_way(storage: Storage) -> None:
    did: list[str] = []
    waits = await version(1, did).compile(storage).run()
    assert waits.snapshot is not None
    with pytest.raises(errors.ResumeInvalidError, match="'text/write'"):
        await version(1, did, inner="author").compile(storage).resume(waits.snapshot, "yes")
    newer = version(2, did, inner="author", migrate=RENAMED).compile(storage)
    assert (await newer.resume(waits.snapshot, "yes")).state == {"text": "found: yes"}
    assert did == ["prepare", "look"]


def with_agent(name: str, pays: list[int], **settings: Any) -> WorkflowApp:
    """An agent within a workflow within a workflow, whose call waits for a person."""

    @tool
    def pay() -> str:
        """Pay."""
        pays.append(1)
        return "paid"

    model = OfflineModel([after("pay").say("{result}"), otherwise.call("pay")])
    innermost = Workflow("innermost")
    innermost.agent(Agent("a", model=model, tools=[pay], approve=["pay"]), ask=lambda _: "go", keep="text", name=name)
    innermost.start(name)
    within = Workflow("within")
    within.workflow(innermost.compile(pause_before=[name]), name="deep")
    within.start("deep")
    flow = Workflow("shop", **settings)
    flow.workflow(within.compile(), name="text")
    flow.start("text")
    return flow.compile()


async def test_an_agent_two_workflows_inside_and_a_static_pause_at_it_are_renamed(storage: Storage) -> None:
    pays: list[int] = []
    waits = await with_agent("payer", pays).run()
    migrate = {1: Migration(nodes={"text/deep/payer": "cashier"})}
    assert waits.snapshot is not None
    newer = with_agent("cashier", pays, version=2, migrate=migrate)
    asks = await newer.resume(waits.snapshot, True)
    assert [each.tool for each in asks.approvals] == ["pay"]
    # And once more, while the call waits.
    waits = await with_agent("payer", pays).resume(waits.snapshot, True)
    assert waits.snapshot is not None
    done = await newer.decide(waits.snapshot, {waits.approvals[0].id: True})
    assert (done.status, done.state, pays) == ("completed", {"text": "paid"}, [1])


async def test_a_step_whose_name_looks_like_a_place_is_none(storage: Storage) -> None:
    flow = Workflow("w")

    @flow.node
    async def odd(_: Any) -> dict[str, Any]:
        await step("0.inner", lambda: 1, once=True)
        return {"answer": pause("ok?")}

    flow.start("odd")
    thread = flow.compile(storage).thread("t")
    await thread.run()
    assert (await thread.resume(1)).state == {"answer": 1}


def test_a_new_name_is_no_path() -> None:
    with pytest.raises(ArgumentInvalidError, match="is a path"):
        Workflow("w", version=2, migrate={1: Migration(nodes={"a/b": "a/c"})})
