"""Random graphs under random deaths come to what a plain interpreter says, and no recorded effect is had twice."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clew_engine import ClewError, Storage, Tuning
from clew_engine.workflows.app import WorkflowThread
from clew_engine.workflows.graph import Graph
from clew_engine.workflows.memos import Memos
from clew_storage import Status
from tests.workflows.generated import Dying, Effects, GraphPlan, NodePlan, expected, graphs, workflow

EXAMPLES = 500 if os.environ.get("CLEW_FAULTS") == "full" else 60
DEATHS = st.lists(st.tuples(st.integers(0, 25), st.booleans()), max_size=4, unique_by=lambda death: death[0])


async def bring_to_its_end(thread: WorkflowThread) -> None:
    """Run, answer and retry, as a caller would who knows nothing but the thread's state."""
    for _ in range(100):
        await thread.storage.open()
        head = await thread.storage.backend.threads.get_head(thread.key)
        try:
            if head is None:
                await thread.run({"log": [], "seen": {}, "total": 0})
            elif head.thread.head_status is Status.SUSPENDED:
                waiting = await thread.approvals()
                # One at a time, and the newest first: the order is nobody's business.
                answers = {waiting[-1].id: {"value": int(waiting[-1].subject.partition(":")[2])}}
                await thread.decide(answers)
            elif head.thread.head_status is Status.COMPLETED:
                return
            else:
                await thread.retry()
        except ClewError as error:
            if error.code not in ("storage_unavailable", "thread_interrupted"):
                raise
    raise AssertionError("the thread is wedged")


async def play(url: str, plan: GraphPlan, deaths: list[tuple[int, bool]]) -> int:
    """Play a graph to its end, and compare; gives how many writes were asked for."""
    effects = Effects()
    async with Storage(url, tuning=Tuning(cancel_grace_s=0.2)) as storage:
        dying = Dying(storage, effects, deaths)
        thread = workflow(plan, effects).compile(storage).thread("t")
        await bring_to_its_end(thread)
        state, visits = expected(plan)
        assert await thread.state() == state
        history = await thread.history(10_000)
        assert [each["version"] for each in history] == list(range(len(history), 0, -1))
    survived = sum(1 for number, _ in deaths if number < dying.count)
    for node in plan.nodes:
        for number in range(node.steps):
            # Once a visit, and once more for each death that can have come between an effect and its record.
            ran = effects.ran[f"{node.name}.{number}"]
            assert visits[node.name] <= ran <= visits[node.name] + survived
    assert effects.again == [], "what was recorded is not begun again"
    return dying.count


# A pause in the middle of a graph whose steps have nodes side by side, which reduce into the same keys.
WIDE = GraphPlan(
    (
        NodePlan("n0", pauses=0, steps=2, plain=False, following=("n2", "n3")),
        NodePlan("n1", pauses=1, steps=1, plain=False, following=("n3",), raising=frozenset({0})),
        NodePlan("n2", pauses=2, steps=1, plain=False, following=("n4",)),
        NodePlan("n3", pauses=1, steps=0, plain=True, following=("n4",)),
        NodePlan("n4", pauses=0, steps=1, plain=False, following=()),
    ),
    ("n0", "n1"),
)


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
@given(plan=graphs(), deaths=DEATHS)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_graph_comes_to_the_same_whatever_dies_meanwhile(
    url: str, plan: GraphPlan, deaths: list[tuple[int, bool]]
) -> None:
    asyncio.run(play(url, plan, deaths))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_graph_comes_to_the_same_whichever_write_the_process_dies_at(after: bool) -> None:
    writes = asyncio.run(play("memory://", WIDE, []))
    assert writes > 15
    for number in range(writes):
        asyncio.run(play("memory://", WIDE, [(number, after)]))


async def _forgetful(*_: Any) -> Memos:
    return Memos()


def _narrow(self: Graph, *args: Any) -> tuple[list[str], dict[str, list[str]]]:
    names, waiting = _following(self, *args)
    return names[:1], waiting


_following = Graph.following
# What is broken on purpose, and must be caught: records that are not read back, and nodes of a step that are left out.
BROKEN = {
    "forgets what was recorded": ("clew_engine.workflows.program.read_memos", _forgetful),
    "plays one node a step": ("clew_engine.workflows.graph.Graph.following", _narrow),
}


@pytest.mark.parametrize("broken", sorted(BROKEN))
def test_a_variant_that_is_broken_is_caught(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    monkeypatch.setattr(*BROKEN[broken])

    @given(plan=graphs(), deaths=DEATHS)
    @settings(max_examples=200, deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    def machine(plan: GraphPlan, deaths: list[tuple[int, bool]]) -> None:
        asyncio.run(play("memory://", plan, deaths))

    with pytest.raises(AssertionError):
        machine()
