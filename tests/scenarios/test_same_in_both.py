"""What is not a thread's, in process and through the client: refused alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

import clew
from clew_engine import Agent, Storage
from tests.scenarios.heads import refund
from tests.scenarios.scripts import ScriptedModel, ask
from tests.scenarios.world import ERRORS
from tests.support.serving import serving


@pytest.fixture(params=["in_process", "grpc"])
async def surface(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Any, Any]]:
    """An agent whose tool needs a person, and what lists threads and approvals."""
    async with Storage("memory://") as storage:
        model = ScriptedModel(ask("refund", amount=7))
        agent = Agent("app", model=model, tools=[refund], approve=["refund"], storage=storage)
        if request.param == "in_process":
            yield agent, storage
            return
        async with serving([agent], storage) as served, clew.Client(served.target) as client:
            yield client.app("app"), client


async def test_a_run_without_a_thread_that_needs_a_person_says_that_it_takes_a_thread(surface: tuple[Any, Any]) -> None:
    agent, _ = surface
    with pytest.raises(ERRORS) as raised:
        await agent.run("pay it back")
    error: Any = raised.value
    assert error.code == "thread_suspended"
    assert dict(error.metadata) == {"app": "app"}
    assert "refund" in str(error)
    assert "send the message to a thread of 'app'" in str(error)
    assert "run-" not in str(error)


LISTS: dict[str, Callable[[Any, int], Awaitable[Any]]] = {
    "threads": lambda of, limit: of.threads.list(limit=limit),
    "approvals": lambda of, limit: of.approvals.list(limit=limit),
    "cache": lambda of, limit: of.cache.keys("n", limit=limit),
}


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize("listed", LISTS)
async def test_a_limit_that_leaves_nothing_to_list_is_refused(
    surface: tuple[Any, Any], listed: str, limit: int
) -> None:
    with pytest.raises(ERRORS) as raised:
        await LISTS[listed](surface[1], limit)
    error: Any = raised.value
    assert (error.code, error.metadata["field"]) == ("argument_invalid", "limit")


async def test_a_state_value_is_given_once(surface: tuple[Any, Any]) -> None:
    with pytest.raises(ERRORS) as raised:
        await surface[0].thread("t").send("hello", state={"a": 1}, a=2)
    error: Any = raised.value
    assert (error.code, error.metadata["field"]) == ("argument_invalid", "state")
