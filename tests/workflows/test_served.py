"""A workflow behind the contract: run, answered, retried and looked at by the client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from clew import ArgumentInvalidError, Client, RunFailedError
from clew_engine import Storage, Workflow, WorkflowApp, append, pause
from tests.support.serving import serving


class State(TypedDict, total=False):
    """What the workflow keeps."""

    count: int
    log: Annotated[list[str], append]


def app() -> WorkflowApp:
    """Counts, asks how much to add, and fails when told to."""
    flow = Workflow("counting", state=State, description="Counts.")

    @flow.node
    async def add(state: Any) -> dict[str, Any]:
        more = pause({"now": state["count"]}, {"type": "integer"})
        return {"count": state["count"] + more, "log": [f"added {more}"]}

    @flow.node
    def check(state: Any) -> dict[str, Any]:
        if state["count"] > 100:
            raise ValueError("too much")
        return {"log": ["checked"]}

    flow.start("add")
    flow.edge("add", "check")
    return flow.compile()


async def test_a_run_is_started_answered_and_read_by_the_client(storage: Storage) -> None:
    async with serving([app()], storage) as served, Client(served.target) as client:
        (listed,) = await client.apps.list()
        assert (listed.name, listed.kind, listed.description) == ("counting", "workflow", "Counts.")
        assert set(listed.input_schema["properties"]) == {"count", "log"}
        thread = client.workflow("counting").thread("t", actor="ada")
        result = await thread.run({"count": 1}, user_id=7)
        assert (result.status, result.state) == ("suspended", {"count": 1})
        assert [(each.kind, each.prompt) for each in result.approvals] == [("pause", {"now": 1})]
        with pytest.raises(ArgumentInvalidError):
            await thread.resume("many")
        result = await thread.resume(41)
        assert (result.status, result.steps) == ("completed", 2)
        assert result.state == {"count": 42, "log": ["added 41", "checked"]} == await thread.state()
        assert await thread.result() == result
        assert (await thread.info()).user_id == "7"
        assert await thread.messages() == []


async def test_a_run_is_streamed_and_its_copy_is_a_workflows_thread_too(storage: Storage) -> None:
    async with serving([app()], storage) as served, Client(served.target) as client:
        thread = client.workflow("counting").thread("t")
        events = [event.type async for event in thread.stream({"count": 1})]
        assert events[-1] == "run_suspended"
        copy = await thread.copy("other")
        assert (await copy.resume(1)).state["count"] == 2
        assert (await thread.result()).status == "suspended"
        (waiting,) = await thread.approvals()
        with pytest.raises(RunFailedError, match="PauseRejectedError: no"):
            await thread.decide({waiting.id: {"reject": "no"}})
        assert (await thread.retry()).status == "suspended"


def test_a_workflow_has_blocking_forms(tmp_path: Path) -> None:
    async def served() -> None:
        async with serving([app()], f"sqlite://{tmp_path / 'clew.db'}") as server:
            await asyncio.to_thread(played, server.target)

    def played(target: str) -> None:
        with Client(target) as client:
            thread = client.workflow("counting").thread("t")
            assert thread.run_sync({"count": 1}).status == "suspended"
            assert thread.resume_sync(1).state["count"] == 2
            assert thread.result_sync().status == "completed"

    asyncio.run(served())


async def test_a_failed_run_says_which_node_and_is_retried(storage: Storage) -> None:
    async with serving([app()], storage) as served, Client(served.target) as client:
        thread = client.app("counting").thread("t")
        await thread.send({"count": 99})
        with pytest.raises(RunFailedError, match="'check' failed: ValueError: too much"):
            await thread.resume(2)
        with pytest.raises(RunFailedError):
            await thread.retry()
        assert (await thread.history(1))[0]["next"] == ["check"]


@pytest.mark.parametrize("wrong", ["a message", {"count": "many"}, {"other": 1}])
async def test_what_the_workflow_does_not_take_is_refused_and_makes_no_thread(storage: Storage, wrong: Any) -> None:
    async with serving([app()], storage) as served, Client(served.target) as client:
        with pytest.raises(Exception, match=r"input|count|other") as refusal:
            await client.app("counting").thread("t").send(wrong)
        assert refusal.value.code in ("argument_invalid", "state_invalid")  # type: ignore[attr-defined]
        assert await client.threads.list() == []


async def test_a_run_that_waits_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    database = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([app()], database) as served, Client(served.target) as client:
        await client.app("counting").thread("t").send({"count": 1})
    async with serving([app()], database) as served, Client(served.target) as client:
        thread = client.app("counting").thread("t")
        await thread.resume(1)
        assert (await thread.state())["count"] == 2
