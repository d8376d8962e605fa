"""A server that stood still for longer than its lease begins nothing with effects when it goes on: what it was to begin may have been done by another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from clew_engine import Agent, Storage, Tuning, Workflow
from clew_engine.errors import LeaseLostError
from clew_engine.workflows.steps import step
from tests.scenarios.scripts import ScriptedModel, ask
from tests.support.postgres import in_schema

LEASE_S = 0.5
begun: list[str] = []


@pytest.fixture
async def storage(postgres_dsn: str) -> AsyncIterator[Storage]:
    """On a database, where leases run out."""
    begun.clear()
    async with Storage(in_schema(postgres_dsn, lease_s=LEASE_S), tuning=Tuning(look_s=0.02)) as opened:
        yield opened


async def freeze() -> str:
    """Stands still with the whole process, as SIGSTOP would have it."""
    begun.append("freeze")
    time.sleep(2 * LEASE_S)  # noqa: ASYNC251 - the event loop is to stand still
    return "went on"


async def effect() -> str:
    """Is to begin when the process stands still already."""
    begun.append("effect")
    return "done"


def both(storage: Storage) -> Agent:
    """An agent whose model calls both in one step."""
    return Agent(
        "both", model=ScriptedModel([ask("freeze"), ask("effect")], "ok"), tools=[freeze, effect], storage=storage
    )


async def of_an_agent(storage: Storage) -> None:
    """Two calls of one step."""
    await both(storage).thread("t").send("go")


async def of_an_agent_inside_a_workflow(storage: Storage) -> None:
    """Two calls of an agent that is a node."""
    flow = Workflow("flow")
    flow.agent(both(storage), ask=lambda _: "go", keep="answer", name="helper")
    flow.start("helper")
    await flow.compile(storage).thread("t").run({})


async def of_a_node(storage: Storage) -> None:
    """Two steps side by side."""
    flow = Workflow("flow")

    @flow.node
    async def node(_state: object) -> dict[str, object]:
        await asyncio.gather(step("freeze", freeze), step("effect", effect))
        return {}

    flow.start("node")
    await flow.compile(storage).thread("t").run({})


@pytest.mark.parametrize("run", [of_an_agent, of_an_agent_inside_a_workflow, of_a_node])
async def test_what_was_not_begun_before_a_server_stood_still_past_its_lease_is_not_begun_after_it(
    storage: Storage, run: Callable[[Storage], Awaitable[None]]
) -> None:
    with pytest.raises(LeaseLostError):
        await run(storage)
    assert begun == ["freeze"]
