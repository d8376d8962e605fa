"""What the branches after a step choose."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any

from clew_engine import incidents
from clew_engine.causes import told
from clew_engine.checkpoints import Failure
from clew_engine.runs import RunStopped
from clew_engine.state import StateView
from clew_engine.workflows.graph import Branch, Graph, names_of

# How a branch is run to its end: a run stops it when it is itself asked to stop.
Work = Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]


async def chosen_after(
    work: Work, graph: Graph, done: Iterable[str], view: StateView, thread_id: str
) -> dict[str, list[str]]:
    """By each node that is done the nodes that its branches name. Raises RunStopped for a branch that fails, which is logged."""
    chosen: dict[str, list[str]] = {}
    for name in done:
        for branch in graph.branches.get(name, ()):
            try:
                chosen.setdefault(name, []).extend(names_of(await work(_choose(branch, view)), branch, graph.nodes))
            except RunStopped:
                raise
            except Exception as error:
                what = f"the branch after {name!r}"
                incidents.raised(what, error, thread_id)
                message = f"{what} failed: {told(error)}"
                raise RunStopped(Failure("tool_failed", message, retryable=True, metadata={"node": name})) from error
    return chosen


async def _choose(branch: Branch, view: StateView) -> Any:
    chosen = branch.choose(view)
    return await chosen if inspect.isawaitable(chosen) else chosen
