"""`Workflow`: nodes and the edges between them, compiled to an app."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from clew_engine.agents import Agent
from clew_engine.amounts import LONG_ENOUGH, LONGEST_TTL_S, is_time
from clew_engine.errors import ArgumentInvalidError
from clew_engine.ids import check_id
from clew_engine.options import Limits
from clew_engine.storage import Storage
from clew_engine.workflows.agent_nodes import AgentNode, Ask, Keep
from clew_engine.workflows.app import WorkflowApp
from clew_engine.workflows.declared import DeclaredKeys
from clew_engine.workflows.graph import START, Branch, Choose, Graph
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.reducers import Reducer
from clew_engine.workflows.step_runs import Node
from clew_engine.workflows.sub_workflows import SubWorkflow
from clew_engine.workflows.upgrades import ChangeState, Migration, Upgrades

N = TypeVar("N", bound=Node)


class Workflow:
    """Functions from the state to the keys they change. Nodes that one step names run side by side, and are merged after it.

    `state` declares the keys (TypedDict, dataclass or pydantic model); `reducers`, or functions in `Annotated` types, say what becomes of a key that
    several nodes of a step write: `append`, `merge`, or a function of the old and the new value. Without one the newest value replaces the old.

    `version` is that of the state and the nodes' names. `migrate` says by each earlier version what leads to the next: a function of the state, a
    Migration that also renames nodes, or None for nothing. A thread is brought up to date when it is next run, answered or retried.
    """

    def __init__(
        self,
        name: str,
        *,
        state: type[Any] | None = None,
        reducers: Mapping[str, Reducer] | None = None,
        limits: Limits | None = None,
        version: int = 1,
        migrate: Mapping[int, Migration | ChangeState | None] | None = None,
        description: str = "",
    ) -> None:
        self.name = check_id(name, "workflow.name")
        if reducers is not None and not isinstance(reducers, Mapping):
            raise ArgumentInvalidError("workflow.reducers", "a dict from keys to reducers is due here")
        if limits is not None and not isinstance(limits, Limits):
            raise ArgumentInvalidError("workflow.limits", f"a Limits is due here, not {type(limits).__name__}")
        self.description = description
        self._keys = DeclaredKeys(state, reducers or {})
        self._limits = limits or Limits(steps=1000)
        self._upgrades = Upgrades(name, version, {each: _migration(step) for each, step in (migrate or {}).items()})
        self._graph = Graph()
        self._nodes: dict[str, Node] = {}

    @overload
    def node(self, function: N, /, *, name: str = "") -> N: ...
    @overload
    def node(self, function: None = None, /, *, name: str = "") -> Callable[[N], N]: ...
    def node(self, function: Any = None, /, *, name: str = "") -> Any:
        """Make a function a node, under its own name or another: `@flow.node`, or `@flow.node(name="pay")`."""
        if function is None:
            return lambda decorated: self._add(decorated, name)
        return self._add(function, name)

    def agent(self, agent: Agent, *, ask: Ask, keep: Keep, name: str = "") -> None:
        """Make an agent a node: it is asked what the key `ask` holds (or what a function of the state makes), and its reply's text is kept under `keep`.

        Its calls that need a person suspend the run; its finished calls and replies are not made again.
        """
        self._add(AgentNode(agent, ask, keep), name or agent.name)

    def workflow(self, app: WorkflowApp, *, name: str = "") -> None:
        """Make a compiled workflow a node: it gets the keys that both declare, and returns of them those that it changed.

        A key that has the same reducer in both gets what its nodes returned, joined; its pauses are the outer run's. Raises ArgumentInvalidError for a
        key with two reducers, which would get what the inner nodes returned twice.
        """
        for key, reducer in app.program.keys.reducers.items():
            if self._keys.reducers.get(key, reducer) is not reducer:
                raise ArgumentInvalidError(
                    "workflow.reducers",
                    f"{key!r} has one reducer here and another in {app.name!r}: give both the same function",
                )
        self._add(SubWorkflow(app.program, self._keys), name or app.name)

    def start(self, *names: str) -> None:
        """Say which nodes a run begins with."""
        self._graph.edges.setdefault(START, []).extend(names)

    def edge(self, source: str | Sequence[str], target: str) -> None:
        """Say what follows a node; a target of several sources waits for all of them."""
        if isinstance(source, str):
            self._graph.edges.setdefault(source, []).append(target)
        elif not isinstance(source, Sequence):
            raise ArgumentInvalidError("workflow.edge", f"a node's name or several are due here, not {source!r}"[:200])
        elif source:
            self._graph.joins.append((tuple(source), target))
        else:
            raise ArgumentInvalidError("workflow.edge", "an edge begins somewhere")

    def branch(self, source: str, choose: Choose, targets: Sequence[str] = ()) -> None:
        """Let a function of the state name what follows a node (one name, several, or END), out of `targets` where they are given."""
        self._graph.branches.setdefault(source, []).append(Branch(choose, tuple(targets)))

    def compile(
        self,
        storage: Storage | None = None,
        *,
        pause_before: Sequence[str] = (),
        pause_after: Sequence[str] = (),
        approval_ttl: float | None = None,
    ) -> WorkflowApp:
        """The workflow as an app on a storage (default: one of its own in memory). Raises ArgumentInvalidError for a graph that cannot run."""
        if approval_ttl is not None and not is_time(approval_ttl, LONGEST_TTL_S):
            text = f"{LONG_ENOUGH} is due here, not {approval_ttl!r}"
            raise ArgumentInvalidError("workflow.approval_ttl", text[:200])
        self._graph.check()
        self._upgrades.check_names(self._nodes)
        for name in (*pause_before, *pause_after):
            if name not in self._nodes:
                raise ArgumentInvalidError("workflow.compile", f"there is no node {name!r} to pause at")
        program = WorkflowProgram(
            name=self.name,
            graph=self._graph.copy(),
            nodes=dict(self._nodes),
            keys=self._keys,
            limits=self._limits,
            pause_before=frozenset(pause_before),
            pause_after=frozenset(pause_after),
            approval_ttl_s=approval_ttl,
            upgrades=self._upgrades,
        )
        return WorkflowApp(program, storage, self.description)

    def _add(self, function: Node, name: str) -> Node:
        if not callable(function):
            raise ArgumentInvalidError("workflow.node", f"a function is due here, not {type(function).__name__}")
        name = name or _name_of(function)
        self._graph.add_node(name)
        self._nodes[name] = function
        return function


def _name_of(function: Any) -> str:
    named = function.func if isinstance(function, functools.partial) else function
    name = getattr(named, "__name__", "")
    if not name:
        raise ArgumentInvalidError("workflow.node", f"{function!r} has no name of its own; give it one: name=…")
    return str(name)


def _migration(given: Migration | ChangeState | None) -> Migration:
    return given if isinstance(given, Migration) else Migration(given)
