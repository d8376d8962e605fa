"""What an app's own code raises is told to its caller, and logged with where it was raised."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest

from clew_engine import Workflow
from tests.scenarios.world import World, refused


class Hook:
    """Raises before each step."""

    def before_step(self, _: object) -> None:
        raise RuntimeError("the hook is broken")


@pytest.mark.parametrize("what", ["hook", "model"])
async def test_it_is_in_the_log_with_its_traceback(here: World, caplog: pytest.LogCaptureFixture, what: str) -> None:
    if what == "hook":
        here.agent("ok", hooks=[Hook()])
    else:
        here.agent(RuntimeError("the model is broken"))
    turn = await (await here.thread()).send()
    assert turn.failure in ("tool_failed", "model_rejected")
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "Traceback (most recent call last)" in record.getMessage()
    assert f"the {what} is broken" in record.getMessage()


def broken(*_: object) -> Any:
    """Code of an app."""
    raise RuntimeError("the app's code is broken")


class Numbers(TypedDict, total=False):
    """A state."""

    n: int
    summed: Annotated[int, broken]


def a_flow(what: str) -> Workflow:
    """Whose node, branch or reducer is broken, or a node of the workflow inside it."""
    flow = Workflow("app", state=Numbers)
    if what == "node inside":
        inner = Workflow("inner", state=Numbers)
        inner.node(broken, name="node")
        inner.start("node")
        flow.workflow(inner.compile(), name="node")
    else:
        flow.node(broken if what == "node" else lambda _: {"summed" if what == "reducer" else "n": 1}, name="node")
    flow.start("node")
    if what == "branch":
        flow.branch("node", broken)
    return flow


@pytest.mark.parametrize("what", ["node", "node inside", "branch", "reducer"])
async def test_what_a_workflows_code_raises_is_there_once(
    here: World, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    here.workflow(a_flow(what))
    turn = await (await here.thread()).send({})
    assert turn.failure == "tool_failed"
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "Traceback (most recent call last)" in record.getMessage()
    assert "in broken" in record.getMessage()


async def test_a_rewind_of_a_thread_that_is_not_there_names_the_checkpoint_that_was_asked_for(world: World) -> None:
    thread = await world.thread("none")
    with refused("checkpoint_not_found", checkpoint_id="0000000000000000.1"):
        await thread.rewind("0000000000000000.1")
