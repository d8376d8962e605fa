"""The graph of a workflow, and which nodes follow which. Pure: a node's name is all that is known of it here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew_engine.errors import ArgumentInvalidError
from clew_engine.state import StateView

START, END = "__start__", "__end__"
# What is within a node is told apart from its name by these.
_KEPT = "/:@\x00"
Choose = Callable[[StateView], str | Sequence[str] | Awaitable[str | Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Branch:
    """A function of the state that names what follows a node; `targets` is what it may name (empty: any node)."""

    choose: Choose
    targets: tuple[str, ...] = ()


@dataclass
class Graph:
    """Edges between names."""

    nodes: list[str] = field(default_factory=list)
    edges: dict[str, list[str]] = field(default_factory=dict)
    branches: dict[str, list[Branch]] = field(default_factory=dict)
    joins: list[tuple[tuple[str, ...], str]] = field(default_factory=list)

    def add_node(self, name: str) -> None:
        """A new node. Raises ArgumentInvalidError for a name that is taken or kept."""
        if name in (START, END) or not name or len(name) > 128 or any(mark in name for mark in _KEPT):
            raise ArgumentInvalidError("workflow.node", f"{name!r} cannot name a node: 1 to 128 characters, no / : @")
        if name in self.nodes:
            raise ArgumentInvalidError("workflow.node", f"two nodes are named {name!r}")
        self.nodes.append(name)

    def check(self) -> None:
        """Raises ArgumentInvalidError for a graph that cannot run: an edge to nowhere, no beginning, a node that nothing reaches."""
        known = {*self.nodes, END}
        for source, targets in self.edges.items():
            self._known(source, {*self.nodes, START})
            for target in targets:
                self._known(target, known)
        for source, branches in self.branches.items():
            self._known(source, {*self.nodes, START})
            for branch in branches:
                for target in branch.targets:
                    self._known(target, known)
        for sources, target in self.joins:
            self._known(target, known)
            for source in sources:
                self._known(source, set(self.nodes))
        if START not in self.edges and START not in self.branches:
            raise ArgumentInvalidError("workflow", "nothing says where it begins; call start(…) with a node")
        unreached = [name for name in self.nodes if name not in self._reached()]
        if unreached:
            raise ArgumentInvalidError("workflow", f"no edge leads to {', '.join(map(repr, unreached))}")

    def _known(self, name: str, known: set[str]) -> None:
        if name not in known:
            raise ArgumentInvalidError("workflow.edge", f"there is no node {name!r}; nodes: {', '.join(self.nodes)}")

    def _reached(self) -> set[str]:
        if any(not branch.targets for branches in self.branches.values() for branch in branches):
            return set(self.nodes)
        reached: set[str] = set()
        waiting = [START]
        while waiting:
            name = waiting.pop()
            following = [*self.edges.get(name, ())]
            following += [target for branch in self.branches.get(name, ()) for target in branch.targets]
            following += [target for sources, target in self.joins if name in sources]
            waiting += [target for target in following if target not in reached]
            reached.update(following)
        return reached

    def following(
        self, done: Iterable[str], chosen: Mapping[str, Sequence[str]], arrived: Mapping[str, Sequence[str]]
    ) -> tuple[list[str], dict[str, list[str]]]:
        """The nodes of the next step, in the order of their declaration, and who has arrived at the joins that still wait.

        `chosen` is what the branches of the nodes that are done have named.
        """
        done = list(done)
        targets = [target for name in done for target in (*self.edges.get(name, ()), *chosen.get(name, ()))]
        waiting: dict[str, list[str]] = {}
        for sources, target in self.joins:
            key = join_key(sources, target)
            there = {*arrived.get(key, ()), *(name for name in done if name in sources)}
            if there >= set(sources):
                targets.append(target)
            elif there:
                waiting[key] = sorted(there)
        return [name for name in self.nodes if name in targets], waiting

    def lost_join(self, arrived: Iterable[str]) -> str | None:
        """Of joins that wait one that the graph does not have (any more)."""
        known = {join_key(sources, target) for sources, target in self.joins}
        return next((key for key in arrived if key not in known), None)

    def copy(self) -> Graph:
        """One that stays as this one is now."""
        return Graph(
            list(self.nodes),
            {source: list(targets) for source, targets in self.edges.items()},
            {source: list(branches) for source, branches in self.branches.items()},
            list(self.joins),
        )


def join_key(sources: Iterable[str], target: str) -> str:
    """A join by its names, as a continuation keeps who has arrived at it."""
    return f"{'/'.join(sorted(sources))}:{target}"


def join_names(key: str) -> tuple[list[str], str]:
    """The other way."""
    sources, _, target = key.partition(":")
    return sources.split("/"), target


def names_of(chosen: Any, branch: Branch, known: Sequence[str]) -> list[str]:
    """What a branch named, as a list. Raises ValueError for what is no node, or none that the branch may name."""
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    allowed = set(branch.targets or (*known, END)) | {END}
    for name in names:
        if name not in allowed:
            raise ValueError(f"a branch named {name!r}; it may name: {', '.join(sorted(allowed))}")
    return [name for name in names if name != END]
