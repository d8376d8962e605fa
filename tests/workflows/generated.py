"""Random graphs, what they come to by a plain interpreter, and a storage that dies after chosen writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from clew_engine import Storage
from clew_engine.checkpoints import decode_body
from clew_engine.state import StateView
from clew_engine.workflows.memos import RETURNED
from clew_engine.workflows.node_context import current
from clew_engine.workflows.reducers import append, merge
from clew_engine.workflows.step_failures import FAILED, StepFailedError
from clew_engine.workflows.steps import pause, step
from clew_engine.workflows.workflow import Workflow
from clew_storage import StorageUnavailable, Write, Written


def add(old: int | None, new: int) -> int:
    """A reducer of an author's own."""
    return (old or 0) + new


REDUCERS: dict[str, Callable[[Any, Any], Any]] = {"log": append, "seen": merge, "total": add}


@dataclass(frozen=True)
class NodePlan:
    """One node: whether it pauses, how many inner steps it takes (a step of each number in `raising` raises, and is caught), and what follows it."""

    name: str
    pauses: int
    steps: int
    plain: bool
    following: tuple[str, ...]
    raising: frozenset[int] = frozenset()


@dataclass(frozen=True)
class GraphPlan:
    """A graph without loops: a node's followers come later."""

    nodes: tuple[NodePlan, ...]
    first: tuple[str, ...]


@st.composite
def graphs(draw: st.DrawFn) -> GraphPlan:
    """Up to six nodes, each reached."""
    count = draw(st.integers(1, 6))
    names = [f"n{number}" for number in range(count)]
    following: dict[str, set[str]] = {name: set() for name in names}
    first = {names[0]}
    for number, name in enumerate(names[1:], 1):
        before = draw(st.lists(st.sampled_from(names[:number]), min_size=0, max_size=2, unique=True))
        if not before:
            first.add(name)
        for each in before:
            following[each].add(name)
    nodes = tuple(
        NodePlan(
            name,
            pauses=draw(st.sampled_from([0, 0, 0, 1, 2])),
            steps=draw(st.integers(0, 2)),
            plain=draw(st.booleans()),
            following=tuple(sorted(following[name])),
            raising=draw(st.frozensets(st.integers(0, 1), max_size=2)),
        )
        for name in names
    )
    # Only nodes that need nothing awaited can be plain functions.
    nodes = tuple(
        NodePlan(node.name, node.pauses, node.steps, node.plain and node.steps == 0, node.following, node.raising)
        for node in nodes
    )
    return GraphPlan(nodes, tuple(sorted(first)))


def expected(plan: GraphPlan) -> tuple[dict[str, Any], Counter[str]]:
    """What the graph comes to, and how often each node is visited: its steps played by hand, each answer its pause's index."""
    visits: Counter[str] = Counter()
    state: dict[str, Any] = {"log": [], "seen": {}, "total": 0}
    nodes = {node.name: node for node in plan.nodes}
    now = [name for name in nodes if name in plan.first]
    while now:
        visits.update(now)
        changes = [_returned(nodes[name], state["total"]) for name in now]
        for change in changes:
            state["log"] = append(state["log"], change["log"])
            state["seen"] = merge(state["seen"], change["seen"])
            state["total"] = add(state["total"], change["total"])
        targets = {target for name in now for target in nodes[name].following}
        now = [name for name in nodes if name in targets]
    return state, visits


def _returned(node: NodePlan, total: int) -> dict[str, Any]:
    answers = list(range(node.pauses))
    return {"log": [[node.name, answers, total]], "seen": {node.name: node.steps}, "total": 1 + node.steps}


@dataclass
class Effects:
    """How often each inner step ran, what was recorded of steps and nodes, and what was begun although its record was durable."""

    ran: Counter[str] = field(default_factory=Counter)
    recorded: set[tuple[str, str, int]] = field(default_factory=set)
    merged_below: int = 0
    again: list[tuple[str, str, int]] = field(default_factory=list)

    def begin(self, node: str, key: str) -> None:
        """Something begins, in the step of the run that it stands in."""
        place = (node, key, current().step.number)
        known = place in self.recorded or (node, key + FAILED, place[2]) in self.recorded
        if known or (node, RETURNED, place[2]) in self.recorded or place[2] < self.merged_below:
            self.again.append(place)

    def note(self, write: Write) -> None:
        """A write is durable."""
        record = write.checkpoint
        self.recorded |= {(node, key, record.step) for node, key, _ in decode_body(record.body).memos}
        self.merged_below = max(self.merged_below, record.step)


def workflow(plan: GraphPlan, effects: Effects) -> Workflow:
    """The graph as a workflow."""
    flow = Workflow("generated", reducers=REDUCERS)
    for node in plan.nodes:
        flow.node(_function(node, effects), name=node.name)
        for target in node.following:
            flow.edge(node.name, target)
    flow.start(*plan.first)
    return flow


def _function(node: NodePlan, effects: Effects) -> Callable[[StateView], Any]:
    def plain(state: StateView) -> dict[str, Any]:
        effects.begin(node.name, RETURNED)
        answers = [pause({"number": number}) for number in range(node.pauses)]
        assert answers == list(range(node.pauses))
        return _returned(node, state.get("total") or 0)

    async def awaited(state: StateView) -> dict[str, Any]:
        def effect(number: int) -> str:
            name = f"{node.name}.{number}"
            effects.begin(node.name, f"effect#{number}")
            effects.ran[name] += 1
            if number in node.raising:
                raise LookupError(name)
            return name

        for number in range(node.steps):
            try:
                got = [await step("effect", effect, number)]
            except StepFailedError as error:
                got = [error.kind, error.message]
            assert got == [*(["LookupError"] if number in node.raising else []), f"{node.name}.{number}"]
        return plain(state)

    return plain if node.plain else awaited


class Dying:
    """Makes appends fail: before they are written, or after, when nobody learns of it."""

    def __init__(self, storage: Storage, effects: Effects, deaths: list[tuple[int, bool]]) -> None:
        self._effects = effects
        self._append = storage.backend.threads.append
        self._deaths = dict(deaths)
        self.count = 0
        storage.backend.threads.append = self.append  # type: ignore[method-assign]

    async def append(self, write: Write) -> Written:
        """Append, or die."""
        number, self.count = self.count, self.count + 1
        if self._deaths.get(number) is False:
            raise StorageUnavailable("died before the write")
        written = await self._append(write)
        self._effects.note(write)
        if self._deaths.get(number) is True:
            raise StorageUnavailable("died after the write")
        return written
