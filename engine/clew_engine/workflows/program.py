"""The workflow as a program: a step of its nodes, what they changed merged, and the nodes that follow."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision, Question
from clew_engine.checkpoints import Call, Failure
from clew_engine.drafts import Draft
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError
from clew_engine.json_text import parse_strict
from clew_engine.messages import Part
from clew_engine.options import Limits
from clew_engine.runs import RunStopped
from clew_engine.schemas import misfit
from clew_engine.state import check_size
from clew_engine.tools import ToolArgumentError
from clew_engine.transcripts import Transcript
from clew_engine.workflows.declared import DeclaredKeys
from clew_engine.workflows.graph import START, Graph, names_of
from clew_engine.workflows.memos import Memos, read_memos
from clew_engine.workflows.node_context import ANSWERS, ASKED, STARTED
from clew_engine.workflows.reducers import Merged, StateConflictError
from clew_engine.workflows.step_runs import Node, StepRun
from clew_storage import Source, Status
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.runs import Run

ARRIVED = "arrived"


@dataclass(frozen=True)
class WorkflowProgram:
    """What a workflow's author declared, stepped."""

    name: str
    graph: Graph
    nodes: Mapping[str, Node]
    keys: DeclaredKeys
    limits: Limits
    pause_before: frozenset[str]
    pause_after: frozenset[str]
    approval_ttl_s: float | None

    @property
    def kind(self) -> str:
        """See the protocol."""
        return "workflow"

    def begin(self) -> Mapping[str, Any]:
        """A run begins with its first nodes, or with finding them where the state has a say."""
        if START in self.graph.branches:
            return {"do": [START]}
        return {"do": self.graph.following([START], {}, {})[0]}

    def check_input(self, content: Sequence[Part]) -> None:
        """Raises ArgumentInvalidError for a message: a workflow takes values."""
        if content:
            raise ArgumentInvalidError("input", f"workflow {self.name!r} takes values by their keys, and no message")

    def check_state(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError for a value that does not fit its key."""
        self.keys.check(state, "input")

    async def step(self, run: Run) -> None:
        """The nodes that the head names, or the choice of the first ones."""
        continuation = run.thread.body.next
        names = list(continuation["do"])
        self._know(names, run.thread.key.thread_id)
        if names == [START]:
            await self._go_on(run, continuation, [START], None)
            return
        before = self._static(continuation, [name for name in names if name in self.pause_before], "before")
        if before:
            await self._suspend(run, continuation, before)
            return
        run.count_step()
        fresh = run.thread.head is not None and run.thread.head.source is Source.STEP and not run.thread.body.memos
        memos = Memos() if fresh else await read_memos(run.storage, run.thread)
        nodes = {name: self.nodes[name] for name in names}
        step = StepRun(run, nodes, continuation, memos, self.keys.check)
        await step.execute()
        if step.questions:
            await self._suspend(run, step.continuation, step.questions)
            return
        merged = Merged(run.thread.state, self.keys.reducers)
        try:
            for name in names:
                merged.add(name, step.returned[name])
        except StateConflictError as error:
            failure = Failure("state_conflict", str(error), retryable=False, metadata={"key": error.key})
            raise RunStopped(failure) from None
        await self._go_on(run, continuation, names, merged)

    def starting(
        self, continuation: Mapping[str, Any], transcript: Transcript, state: Mapping[str, bytes]
    ) -> Sequence[Call]:
        """Nodes are no calls; only that they are still there is checked. Raises ResumeInvalidError for one that is not."""
        self._know(continuation["do"], "")
        return ()

    def decided(
        self, continuation: Mapping[str, Any], answers: Sequence[tuple[Approval, Decision]]
    ) -> Mapping[str, Any]:
        """The answers by what they are about. Raises ArgumentInvalidError for a value that does not fit the pause's schema."""
        self._know(continuation["do"], "")
        decided = dict(continuation.get(ANSWERS, {}))
        for approval, decision in answers:
            decided[approval.subject] = self._answer(approval, decision)
        subjects = {approval.subject for approval, _ in answers}
        left = [asked for asked in continuation.get(ASKED, ()) if asked["subject"] not in subjects]
        return {**continuation, ANSWERS: decided, ASKED: left}

    def questions(self, continuation: Mapping[str, Any], transcript: Transcript) -> Sequence[Question]:
        """What was asked and is not answered."""
        return [Question(**{**asked, "kind": ApprovalKind(asked["kind"])}) for asked in continuation.get(ASKED, ())]

    def may_have_started(self, continuation: Mapping[str, Any], transcript: Transcript) -> bool:
        """Whether a step is under way; which of its parts are done once is the nodes' own."""
        return continuation.get("do") not in (None, [START])

    def meet_started(
        self, continuation: Mapping[str, Any], transcript: Transcript, step: int, started: frozenset[str]
    ) -> Mapping[str, Any]:
        """What was started in this very step on another line."""
        met = {each for each in started if each.endswith(f"@{step}")} | set(continuation.get(STARTED, ()))
        return {**continuation, STARTED: sorted(met)} if met else continuation

    async def close(self) -> None:
        """Nothing is held open."""

    def _answer(self, approval: Approval, decision: Decision) -> dict[str, Any]:
        row: dict[str, Any] = {"choice": decision.choice.value}
        if decision.reason:
            row["reason"] = decision.reason
        if decision.value is not None:
            row["value"] = decision.value
        if approval.kind is ApprovalKind.PAUSE and decision.choice is Choice.VALUE and approval.schema_json:
            wrong = misfit(approval.schema, parse_strict(decision.value or "null"))
            if wrong:
                raise ArgumentInvalidError("value_json", f"the answer to {approval.id} does not fit: {wrong}")
        if approval.kind is ApprovalKind.TOOL_CALL and decision.choice is Choice.APPROVE:
            row["arguments"] = approval.arguments_json
            if decision.arguments is not None:
                self._check_edit(approval, decision.arguments)
                row["arguments"] = decision.arguments
        return row

    def _check_edit(self, approval: Approval, arguments: str) -> None:
        tools = getattr(self.nodes.get(approval.subject.partition("/")[0]), "tools", {})
        if approval.tool not in tools:
            raise ArgumentInvalidError("decisions.approval_id", f"there is no tool {approval.tool!r} any more")
        try:
            tools[approval.tool].check(arguments)
        except ToolArgumentError as error:
            raise ArgumentInvalidError("decisions.approve.arguments_json", str(error)) from None

    def _know(self, names: Sequence[str], thread_id: str) -> None:
        missing = [name for name in names if name != START and name not in self.nodes]
        if missing:
            raise ResumeInvalidError(
                f"the run waits at {', '.join(map(repr, missing))}, which workflow {self.name!r} no longer has; "
                "serve a version that has it, or cancel the run",
                nodes=",".join(missing),
                thread_id=thread_id,
            )

    def _static(self, continuation: Mapping[str, Any], names: Sequence[str], when: str) -> list[Question]:
        answered = continuation.get(ANSWERS, {})
        return [
            Question(ApprovalKind.PAUSE, f"{when} {name}", prompt=f'{{"{when}":"{name}"}}')
            for name in names
            if f"{when} {name}" not in answered
        ]

    async def _suspend(self, run: Run, continuation: Mapping[str, Any], questions: Sequence[Question]) -> None:
        await run.thread.commit(
            Draft(
                Source.SUSPEND,
                Status.SUSPENDED,
                next={**continuation, ASKED: list(map(_row, questions))},
                questions=tuple(map(run.addressed, questions)),
            )
        )

    async def _go_on(
        self, run: Run, continuation: Mapping[str, Any], done: Sequence[str], merged: Merged | None
    ) -> None:
        """Write what the step changed, and what follows it."""
        change = merged.change() if merged else None
        state = apply(run.thread.state, change) if change else run.thread.state
        check_size(state, run.storage.tuning.state_limit)
        chosen = {name: await self._chosen(run, name, state) for name in done if name in self.graph.branches}
        following, arrived = self.graph.following(done, chosen, continuation.get(ARRIVED, {}))
        next_: dict[str, Any] = {"do": following}
        if arrived:
            next_[ARRIVED] = arrived
        step = (run.thread.head.step if run.thread.head else 0) + 1
        after = self._static({}, [name for name in done if name in self.pause_after], "after")
        if after:
            await run.thread.commit(
                Draft(
                    Source.SUSPEND,
                    Status.SUSPENDED,
                    next={**next_, ASKED: list(map(_row, after))},
                    state=change,
                    questions=tuple(map(run.addressed, after)),
                    step=step,
                )
            )
            return
        status = Status.IN_PROGRESS if following else Status.COMPLETED
        await run.thread.commit(Draft(Source.STEP, status, next=next_ if following else {}, state=change, step=step))

    async def _chosen(self, run: Run, name: str, state: Mapping[str, bytes]) -> list[str]:
        names: list[str] = []
        for branch in self.graph.branches[name]:
            try:
                chosen = branch.choose(run.state_view(state))
                chosen = await chosen if inspect.isawaitable(chosen) else chosen
                names += names_of(chosen, branch, self.graph.nodes)
            except Exception as error:
                message = f"the branch after {name!r} failed: {type(error).__name__}: {error}"
                raise RunStopped(Failure("tool_failed", message, retryable=True)) from error
        return names


def _row(question: Question) -> dict[str, str]:
    """A question as the continuation keeps it."""
    row = {
        "kind": question.kind.value,
        "subject": question.subject,
        "tool": question.tool,
        "prompt": question.prompt,
        "schema": question.schema,
    }
    return {name: value for name, value in row.items() if value}
