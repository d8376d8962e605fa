"""A workflow as a node of another: its nodes' outcomes are recorded in the step of the node that it is."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from clew_engine.json_text import join_object, split_object
from clew_engine.state import StateView, encode_values
from clew_engine.workflows.graph import START, names_of
from clew_engine.workflows.memos import RETURNED
from clew_engine.workflows.node_context import NodeContext, Paused, current, enter
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.reducers import Merged
from clew_engine.workflows.step_runs import changed_keys
from clew_storage.state_changes import apply


class SubWorkflow:
    """Runs a program's graph within one node. It gets the keys it declares (all, where it declares none), and returns what it changed."""

    def __init__(self, program: WorkflowProgram) -> None:
        self.program = program
        self.tools = {
            name: tool for node in program.nodes.values() for name, tool in getattr(node, "tools", {}).items()
        }

    async def __call__(self, state: StateView) -> dict[str, Any]:
        """Play the graph; what was recorded of it before is not done again."""
        context = current()
        outer = {name: state[name] for name in state if name not in ("messages", "_clew")}
        inner = encode_values(self.program.keys.known(outer))
        before = dict(inner)
        names, arrived, number = list(self.program.begin()["do"]), dict[str, list[str]](), 0
        while names:
            if names != [START]:
                inner = await self._step(context, names, inner, number)
                number += 1
            chosen = {name: await self._chosen(name, inner) for name in names if name in self.program.graph.branches}
            names, arrived = self.program.graph.following(names, chosen, arrived)
        view = StateView(inner, (), {})
        return {name: view[name] for name, value in inner.items() if before.get(name) != value}

    async def _step(
        self, context: NodeContext, names: Sequence[str], state: Mapping[str, bytes], number: int
    ) -> dict[str, bytes]:
        tasks = [asyncio.create_task(self._node(context, name, state, number)) for name in names]
        try:
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for task in tasks:
                task.cancel()
        paused = [question for each in outcomes if isinstance(each, Paused) for question in each.questions]
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, Paused):
                raise outcome
        if paused:
            raise Paused(*paused)
        merged = Merged(state, self.program.keys.reducers)
        for name, outcome in zip(names, outcomes, strict=True):
            assert isinstance(outcome, dict)
            merged.add(name, outcome)
        change = merged.change()
        return apply(state, change) if change else dict(state)

    async def _node(self, context: NodeContext, name: str, state: Mapping[str, bytes], number: int) -> dict[str, bytes]:
        inside = context.inside(f"{number}.{name}")
        known = inside.memos.get(inside.node, RETURNED)
        if known is not None:
            return split_object(known)
        enter(inside)
        counters = {"run_id": context.run.thread.run_id, "step": number}
        view = StateView(state, (), counters)
        values = await changed_keys(name, self.program.nodes[name], view, self.program.keys.check)
        await inside.record(RETURNED, join_object(values))
        return values

    async def _chosen(self, name: str, state: Mapping[str, bytes]) -> list[str]:
        names: list[str] = []
        for branch in self.program.graph.branches[name]:
            chosen = branch.choose(StateView(state, (), {}))
            chosen = await chosen if inspect.isawaitable(chosen) else chosen
            names += names_of(chosen, branch, self.program.graph.nodes)
        return names
