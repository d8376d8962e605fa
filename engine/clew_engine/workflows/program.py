"""The workflow as a program: a step of its nodes, what they changed merged, and the nodes that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew_engine import incidents
from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision, Question
from clew_engine.calls import GIVEN
from clew_engine.checkpoints import Call, Failure, decode_body
from clew_engine.drafts import Draft
from clew_engine.errors import ArgumentInvalidError, ClewError, ResumeInvalidError
from clew_engine.json_text import parse_strict
from clew_engine.messages import Part
from clew_engine.options import Limits
from clew_engine.program import NodeWrite
from clew_engine.runs import RunStopped
from clew_engine.schemas import misfit
from clew_engine.tools import ToolArgumentError
from clew_engine.transcripts import Transcript
from clew_engine.workflows import continuations
from clew_engine.workflows.agent_nodes import usage_in
from clew_engine.workflows.branches import chosen_after
from clew_engine.workflows.continuations import ANSWERS, ARRIVED, ASKED, STARTED, nodes_of, static_pause
from clew_engine.workflows.declared import DeclaredKeys
from clew_engine.workflows.graph import START, Graph, join_names
from clew_engine.workflows.inner_places import lost_places
from clew_engine.workflows.memos import Memos, read_memos
from clew_engine.workflows.node_writes import write_as_node
from clew_engine.workflows.reducers import Merged, MergeError
from clew_engine.workflows.step_runs import Node, StepRun
from clew_engine.workflows.upgrades import Upgrades
from clew_storage import CheckpointRecord, Source, StateChange, Status, ThreadKey
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.open_threads import OpenThread
    from clew_engine.runs import Run
    from clew_engine.storage import Storage


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
    upgrades: Upgrades

    @property
    def kind(self) -> str:
        """See the protocol."""
        return "workflow"

    def begin(self) -> Mapping[str, Any]:
        """A run begins with its first nodes, or with finding them where the state has a say."""
        first = [START] if START in self.graph.branches else self.graph.following([START], {}, {})[0]
        return self.upgrades.stamped({"do": first})

    def check_input(self, content: Sequence[Part]) -> None:
        """Raises ArgumentInvalidError for a message: a workflow takes values."""
        if content:
            raise ArgumentInvalidError("input", f"workflow {self.name!r} takes values by their keys, and no message")

    def check_state(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError for a value that does not fit its key."""
        self.keys.check_state(state, "state")

    def defaults(self, state: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """See the protocol."""
        return self.keys.defaults(state)

    def restated(self, continuation: Mapping[str, Any]) -> Mapping[str, Any]:
        """See the protocol."""
        return self.upgrades.restated(continuation) if continuation else continuation

    def upgraded_state(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> StateChange | None:
        """What makes the state that an older version of the workflow left one of this version. Raises ResumeInvalidError where nothing does."""
        return self.upgrades.state_change(self.upgrades.pending(continuation, thread_id), state, thread_id)

    def upgraded(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> tuple[Mapping[str, Any], StateChange | None]:
        """See the protocol: nodes and joins that this version does not have are named, and keys by StateInvalidError."""
        migrations = self.upgrades.pending(continuation, thread_id)
        newer = self.upgrades.continuation(migrations, continuation)
        self._know(newer, thread_id)
        change = self.upgrades.state_change(migrations, state, thread_id)
        self.check_state(apply(state, change) if change else state)
        return newer, change

    async def step(self, run: Run) -> None:
        """The nodes that the head names, or the choice of the first ones."""
        continuation = run.thread.body.next
        run.used_apart = continuations.usage_of(continuation)
        self._refuse_rejected(continuation)
        names = nodes_of(continuation)
        pauses = continuations.static_pauses(continuation, self.pause_before)
        if pauses:
            await self._suspend(run, continuation, pauses)
            return
        if names in ([START], []):
            await self._go_on(run, continuation, names, None)
            return
        run.count_step()
        await self._play(run, continuation, names)

    async def written_as(
        self, storage: Storage, thread: OpenThread, node: str, values: Mapping[str, bytes]
    ) -> NodeWrite:
        """See the protocol."""
        return await write_as_node(self, storage, thread, node, values)

    def starting(
        self, continuation: Mapping[str, Any], transcript: Transcript, state: Mapping[str, bytes]
    ) -> Sequence[Call]:
        """Nodes are no calls."""
        return ()

    def decided(
        self, continuation: Mapping[str, Any], answers: Sequence[tuple[Approval, Decision]]
    ) -> Mapping[str, Any]:
        """The answers by what they are about. Raises ArgumentInvalidError for a value that does not fit the pause's schema."""
        rows = {}
        for approval, decision in answers:
            subject = continuations.subject_of(continuation, approval.subject)
            rows[subject] = self._answer(replace(approval, subject=subject), decision)
        return continuations.with_answers(continuation, rows)

    def questions(self, continuation: Mapping[str, Any], transcript: Transcript) -> Sequence[Question]:
        """What was asked and is not answered."""
        return continuations.asked(continuation)

    def may_have_started(self, continuation: Mapping[str, Any], transcript: Transcript) -> bool:
        """Whether steps are to come; which of their parts are done once is the nodes' own."""
        return bool(nodes_of(continuation))

    def meet_started(
        self, continuation: Mapping[str, Any], transcript: Transcript, step: int, started: frozenset[str]
    ) -> Mapping[str, Any]:
        """What was started in this very step or a later one on another line."""
        met = {each for each in started if continuations.step_number(each) >= step}
        met |= set(continuation.get(STARTED, ()))
        return {**continuation, STARTED: sorted(met)} if met else continuation

    async def memos(self, storage: Storage, key: ThreadKey, head: CheckpointRecord) -> Memos:
        """What was done within the step at a thread's head, by the names that the nodes have now."""
        return await read_memos(storage, key, head, self.upgrades.node_name)

    async def check_recorded(self, storage: Storage, key: ThreadKey, head: CheckpointRecord) -> None:
        """See the protocol: nodes of workflows inside that this version does not have are named."""
        memos = await self.memos(storage, key, head)
        continuation = decode_body(head.body).next
        asked = [row["subject"] for row in continuation.get(ASKED, ())]
        asked += [*continuation.get(ANSWERS, ()), *continuation.get(GIVEN, ())]
        now = [self.upgrades.node_name(continuation, subject) for subject in asked]
        lost = lost_places(self.nodes, sorted(memos.places()), now)
        if lost:
            raise ResumeInvalidError(
                f"the run is in the middle of {', '.join(map(repr, lost))}, which workflow {self.name!r} does not have (any more); "
                f"serve a version that has it or a migration that renames it (nodes={{{lost[0]!r}: …}}), or cancel the run",
                nodes=",".join(lost),
                thread_id=key.thread_id,
            )

    async def close(self) -> None:
        """What its agents' models, and those of workflows inside, hold open."""
        for node in self.nodes.values():
            close = getattr(node, "close", None)
            if close is not None:
                await close()

    def _answer(self, approval: Approval, decision: Decision) -> dict[str, Any]:
        row: dict[str, Any] = {"choice": decision.choice.value}
        if decision.reason:
            row["reason"] = decision.reason
        if decision.value is not None:
            row["value"] = decision.value
        if decision.output is not None:
            row["output"] = decision.output
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

    def _know(self, continuation: Mapping[str, Any], thread_id: str) -> None:
        missing = [name for name in nodes_of(continuation) if name != START and name not in self.nodes]
        if missing:
            raise ResumeInvalidError(
                f"the run waits at {', '.join(map(repr, missing))}, which workflow {self.name!r} does not have (any more); "
                "serve a version that has it or a migration that renames it, or cancel the run",
                nodes=",".join(missing),
                thread_id=thread_id,
            )
        lost = self.graph.lost_join(continuation.get(ARRIVED, ()))
        if lost is not None:
            sources, target = join_names(lost)
            raise ResumeInvalidError(
                f"the run waits for {', '.join(map(repr, sources))} to go on with {target!r}, which workflow {self.name!r} no longer joins; "
                "serve a version that does, or cancel the run",
                nodes=target,
                thread_id=thread_id,
            )

    def _refuse_rejected(self, continuation: Mapping[str, Any]) -> None:
        """A person rejected a static pause: the run is over, and a retry asks again."""
        rejected = continuations.rejected_pauses(continuation)
        for subject, reason in rejected.items():
            failure = Failure("cancelled", f"the pause {subject} was rejected: {reason}", retryable=True)
            raise RunStopped(failure, next=continuations.without_answers(continuation, rejected))

    async def _suspend(self, run: Run, continuation: Mapping[str, Any], questions: Sequence[Question]) -> None:
        await run.thread.commit(
            Draft(
                Source.SUSPEND,
                Status.SUSPENDED,
                next=continuations.asking(continuation, questions),
                questions=tuple(map(run.addressed, questions)),
                usage=run.usage(),
            ),
            run.stop_request,
        )

    async def _play(self, run: Run, continuation: Mapping[str, Any], names: Sequence[str]) -> None:
        head = run.thread.head
        assert head is not None
        fresh = head.source is Source.INPUT or (head.source is Source.STEP and not run.thread.body.memos)
        memos = Memos() if fresh else await self.memos(run.storage, run.thread.key, head)
        run.used_apart = run.used_apart + usage_in(memos)
        step = StepRun(run, {name: self.nodes[name] for name in names}, continuation, memos, self.keys.check)
        await step.execute()
        if step.questions:
            await self._suspend(run, step.continuation, step.questions)
            return
        try:
            await self._go_on(run, continuation, names, self._merged(run, names, step))
        except RunStopped:
            step.keep()
            raise

    def _merged(self, run: Run, names: Sequence[str], step: StepRun) -> StateChange | None:
        """What the nodes changed, in the order of their declaration."""
        merged = Merged(run.thread.state, self.keys.reducers)
        try:
            for name in names:
                merged.add(name, step.returned[name])
            change = merged.change()
            if change is not None:
                self.keys.check_reduced(change, run.thread.changed(change), "state")
        except MergeError as error:
            if error.__cause__ is not None:
                incidents.raised(f"the reducer of {error.key!r}", error.__cause__, run.thread.key.thread_id)
            failure = Failure(error.code, str(error), error.code != "state_conflict", metadata={"key": error.key})
            raise RunStopped(failure) from None
        except ClewError as error:
            whose = f"what {' and '.join(map(repr, names))} returned cannot be kept: {error.message}"
            raise RunStopped(Failure("tool_failed", whose, retryable=True)) from error
        return change

    async def _go_on(
        self, run: Run, continuation: Mapping[str, Any], done: Sequence[str], change: StateChange | None
    ) -> None:
        """Write what the step changed, and what follows it."""
        chosen = await chosen_after(
            run.work, self.graph, done, run.state_view(run.thread.changed(change)), run.thread.key.thread_id
        )
        following, arrived = self.graph.following(done, chosen, continuation.get(ARRIVED, {}))
        was = run.thread.head.step if run.thread.head else 0
        step = was + (list(done) not in ([START], []))
        next_ = continuations.with_usage(
            continuations.following(continuation, following, arrived, step), run.used_apart
        )
        after = [static_pause("after", name) for name in done if name in self.pause_after]
        if after:
            await run.thread.commit(
                Draft(
                    Source.SUSPEND,
                    Status.SUSPENDED,
                    next=continuations.asking(next_, after),
                    state=change,
                    questions=tuple(map(run.addressed, after)),
                    usage=run.usage(),
                    step=step,
                )
            )
            return
        if following:
            await run.thread.commit(Draft(Source.STEP, next=next_, state=change, step=step))
        else:
            end = self.upgrades.stamped({})
            await run.thread.commit(
                Draft(Source.STEP, Status.COMPLETED, next=end, state=change, usage=run.usage(), step=step)
            )
