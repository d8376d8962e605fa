"""A workflow as a node of another: its nodes' outcomes are recorded in the step of the node that it is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from clew_engine.json_text import join_object, parse_stored, split_object
from clew_engine.runs import RunStopped, over_limit
from clew_engine.state import StateView
from clew_engine.workflows.branches import chosen_after
from clew_engine.workflows.continuations import static_pause
from clew_engine.workflows.declared import DeclaredKeys
from clew_engine.workflows.graph import START
from clew_engine.workflows.memos import RETURNED
from clew_engine.workflows.node_context import NodeContext, Paused, PauseRejectedError, current, enter
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.reducers import Merged, reduced
from clew_engine.workflows.step_runs import changed_keys, failure_of, log, pauses_of
from clew_storage import StorageError
from clew_storage.state_changes import apply


class SubWorkflow:
    """Runs a program's graph within one node. It gets the keys that both declare, and returns of them what it changed.

    A key that both have the same reducer for gets what the nodes inside returned for it, joined by that reducer; any other its value at the end.
    """

    def __init__(self, program: WorkflowProgram, outer: DeclaredKeys) -> None:
        self.program = program
        self.outer = outer
        nodes = program.nodes.values()
        self.tools = {name: tool for node in nodes for name, tool in getattr(node, "tools", {}).items()}
        self.gated = frozenset(name for node in nodes for name in getattr(node, "gated", ()))

    async def __call__(self, state: StateView) -> dict[str, Any]:
        """Play the graph; what was recorded of it before is not done again."""
        given = self.program.keys.known(state.bare())
        given |= self.program.keys.defaults(given)
        self.program.keys.check_state(given, f"workflow {self.program.name}")
        played = _Play(self, current(), state, dict(given))
        await played.execute()
        changed = {name: value for name, value in played.state.items() if given.get(name) != value}
        return {name: parse_stored(value) for name, value in self.outer.known(changed | played.joined).items()}

    async def close(self) -> None:
        """Close what the models inside hold open."""
        await self.program.close()


class _Play:
    """One way through the graph, from its beginning."""

    def __init__(self, of: SubWorkflow, context: NodeContext, view: StateView, state: dict[str, bytes]) -> None:
        self._program = of.program
        self._shared = {
            key: reducer for key, reducer in of.program.keys.reducers.items() if of.outer.reducers.get(key) is reducer
        }
        self._context = context
        self._view = view
        self._steps = 0
        self.state = state
        self.joined: dict[str, bytes] = {}

    async def execute(self) -> None:
        """Step after step until nothing follows."""
        program, number = self._program, 0
        names, arrived = list(program.begin()["do"]), dict[str, list[str]]()
        while names:
            if names != [START]:
                self._pause("before", [name for name in names if name in program.pause_before], number)
                await self._step(names, number)
                self._pause("after", [name for name in names if name in program.pause_after], number)
                number += 1
            view = StateView(self.state, (), self._view["_clew"])
            chosen = await chosen_after(
                self._context.run.work, program.graph, names, view, self._context.run.thread.key.thread_id
            )
            names, arrived = program.graph.following(names, chosen, arrived)

    def _pause(self, when: str, names: Sequence[str], number: int) -> None:
        questions = [static_pause(when, name, f"{self._context.node}/{number} ") for name in names]
        waiting = [question for question in questions if self._context.answer(question.subject) is None]
        if waiting:
            raise Paused(*waiting)
        for question in questions:
            self._context.ask(question)

    async def _step(self, names: Sequence[str], number: int) -> None:
        inside = {name: self._context.inside(f"{number}.{name}") for name in names}
        if any(context.known(RETURNED) is None for context in inside.values()):
            self._count()
        tasks = [asyncio.create_task(self._node(inside[name], name)) for name in names]
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        for name, outcome in zip(names, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                self._context.step.ended_with(outcome)
                if self._is_its_own(outcome):
                    log(self._context.run, inside[name].node, outcome)
        paused: list[Paused] = []
        for name, outcome in zip(names, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                found = [*pauses_of(outcome)]
                if not found:
                    raise self._failed(inside[name].node, outcome)
                paused += found
        if paused:
            raise Paused(*(question for each in paused for question in each.questions))
        merged = Merged(self.state, self._program.keys.reducers)
        for name, values in zip(names, outcomes, strict=True):
            assert isinstance(values, dict)
            merged.add(name, values)
            self._join(name, values)
        change = merged.change()
        if change is not None:
            self.state = apply(self.state, change)
            self._program.keys.check_reduced(change, self.state, f"workflow {self._program.name}")

    def _failed(self, node: str, error: BaseException) -> BaseException:
        return RunStopped(failure_of(node, error)) if self._is_its_own(error) else error

    @staticmethod
    def _is_its_own(error: BaseException) -> bool:
        return isinstance(error, Exception) and not isinstance(error, PauseRejectedError | StorageError)

    def _count(self) -> None:
        """What was played before is not counted again: a limit is of one attempt."""
        limit = self._program.limits.steps
        if limit is not None and self._steps >= limit:
            raise RunStopped(over_limit("steps", f"{limit} steps of workflow {self._program.name!r}"))
        self._steps += 1

    def _join(self, node: str, values: Mapping[str, bytes]) -> None:
        for key, reducer in self._shared.items():
            if key in values:
                before = self.joined.get(key)
                self.joined[key] = values[key] if before is None else reduced(reducer, key, before, values[key], node)

    async def _node(self, context: NodeContext, name: str) -> dict[str, bytes]:
        known = context.known(RETURNED)
        if known is not None:
            return split_object(known)
        enter(context)
        view = StateView(self.state, (), self._view["_clew"])
        values = await changed_keys(context, self._program.nodes[name], view, self._program.keys.check)
        await context.record({RETURNED: join_object(values)})
        return values
