"""The agent as a program: ask the model, run the calls it asks for, and so on until it only speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.approvals import Approval, ApprovalKind, Choice, Decision, Question
from clew_engine.calls import DECIDED, INTENTS, OUTCOMES, CallStep, known_tools, plan_calls, planned
from clew_engine.checkpoints import Call
from clew_engine.drafts import Draft, DraftMessage
from clew_engine.errors import ArgumentInvalidError, StateTooLargeError
from clew_engine.hooks import hooked, instructed
from clew_engine.json_text import JsonError, parse_strict
from clew_engine.messages import Message, Part, Provider, ToolCallPart
from clew_engine.model_streams import answered
from clew_engine.models import Model, ModelError, ModelRequest, ModelResponse, ModelSettings
from clew_engine.options import Limits
from clew_engine.program import NodeWrite
from clew_engine.state import StateView, replacing
from clew_engine.tools import Tool, ToolArgumentError
from clew_engine.transcripts import Transcript
from clew_engine.typed_state import DeclaredState
from clew_engine.user_messages import check_message
from clew_storage import CheckpointRecord, Source, StateChange, Status, ThreadKey
from clew_storage.state_changes import apply

if TYPE_CHECKING:
    from clew_engine.agents import Instructions
    from clew_engine.open_threads import OpenThread
    from clew_engine.runs import Run
    from clew_engine.storage import Storage

MODEL: Mapping[str, Any] = {"do": "model"}
TOOLS: Mapping[str, Any] = {"do": "tools"}


@dataclass(frozen=True)
class AgentProgram:
    """What an agent's author declared, stepped. `gated` are the names of tools whose calls always wait for a person."""

    name: str
    model: Model
    instructions: Instructions
    tools: Mapping[str, Tool]
    gated: frozenset[str]
    limits: Limits
    hooks: tuple[object, ...]
    declared: DeclaredState | None
    approval_ttl_s: float | None
    settings: ModelSettings | None

    @property
    def kind(self) -> str:
        """See the protocol."""
        return "agent"

    def begin(self) -> Mapping[str, Any]:
        """A turn begins with the model."""
        return MODEL

    def check_input(self, content: Sequence[Part]) -> None:
        """Raises ArgumentInvalidError for no message, or one that no user says."""
        check_message(content)

    def check_state(self, state: Mapping[str, bytes]) -> None:
        """Raises StateInvalidError when the state does not fit the declared type."""
        if self.declared is not None:
            self.declared.check(state)

    def defaults(self, state: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """See the protocol."""
        return {} if self.declared is None else self.declared.defaults(state)

    def restated(self, continuation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Agents have no versions."""
        return continuation

    def upgraded_state(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> StateChange | None:
        """An agent's state has no versions."""
        return None

    def upgraded(
        self, continuation: Mapping[str, Any], state: Mapping[str, bytes], thread_id: str
    ) -> tuple[Mapping[str, Any], StateChange | None]:
        """See above: what is there is gone on with."""
        return continuation, None

    async def written_as(
        self, storage: Storage, thread: OpenThread, node: str, values: Mapping[str, bytes]
    ) -> NodeWrite:
        """Raises ArgumentInvalidError: an agent has no nodes."""
        raise ArgumentInvalidError(
            "as_node", f"app {self.name!r} is an agent and has no node {node!r}; leave as_node out", node=node
        )

    async def step(self, run: Run) -> None:
        """One model step, or the calls of one."""
        continuation = run.thread.body.next
        open_calls = run.thread.transcript.open_calls() if continuation.get("do") == "tools" else []
        # Where the message that asked for them was deleted, the model is asked anew.
        if open_calls:
            plan = await planned(run, open_calls, continuation, self.tools, self.gated)
            await CallStep(run, plan, continuation, MODEL).execute()
            return
        run.count_step()
        run.check_tokens()
        await self._ask(run)

    def starting(
        self, continuation: Mapping[str, Any], transcript: Transcript, state: Mapping[str, bytes]
    ) -> Sequence[Call]:
        """The calls that need neither a person nor an intent."""
        if continuation.get("do") != "tools":
            return ()
        return self._starting(transcript.open_calls(), continuation)

    def decided(
        self, continuation: Mapping[str, Any], answers: Sequence[tuple[Approval, Decision]]
    ) -> Mapping[str, Any]:
        """Answers are kept by call until the step is done."""
        decided = dict(continuation.get(DECIDED, {}))
        outcomes = dict(continuation.get(OUTCOMES, {}))
        intents = list(continuation.get(INTENTS, ()))
        for approval, decision in answers:
            row = self._answer(approval, decision)
            if approval.kind is ApprovalKind.TOOL_CALL:
                decided[approval.subject] = row
            elif decision.choice is Choice.RUN_AGAIN:
                intents.remove(approval.subject)
            else:
                outcomes[approval.subject] = row
        changed = {**continuation, DECIDED: decided, OUTCOMES: outcomes, INTENTS: intents}
        return {name: value for name, value in changed.items() if value}

    def questions(self, continuation: Mapping[str, Any], transcript: Transcript) -> Sequence[Question]:
        """The calls that a person is to be asked about."""
        if continuation.get("do") != "tools":
            return ()
        return plan_calls(transcript.open_calls(), continuation, self.tools, self.gated).questions

    def may_have_started(self, continuation: Mapping[str, Any], transcript: Transcript) -> bool:
        """Whether a call of a tool that is declared `once` is open."""
        return bool(self._once_calls(continuation, transcript))

    def meet_started(
        self, continuation: Mapping[str, Any], transcript: Transcript, step: int, started: frozenset[str]
    ) -> Mapping[str, Any]:
        """Started calls become intents without a record."""
        met = self._once_calls(continuation, transcript) & started
        intents = sorted({*continuation.get(INTENTS, ()), *met})
        return {**continuation, INTENTS: intents} if intents else continuation

    def _once_calls(self, continuation: Mapping[str, Any], transcript: Transcript) -> frozenset[str]:
        if continuation.get("do") != "tools":
            return frozenset()
        calls = (call for _, call in transcript.open_calls())
        return frozenset(call.id for call in calls if call.name in self.tools and self.tools[call.name].once)

    async def check_recorded(self, storage: Storage, key: ThreadKey, head: CheckpointRecord) -> None:
        """What an agent records are messages, and those have no places in its code."""

    async def close(self) -> None:
        """Close the model's connections."""
        close = getattr(self.model, "aclose", None)
        if close is not None:
            await close()

    def _starting(
        self, open_calls: list[tuple[int, ToolCallPart]], continuation: Mapping[str, Any]
    ) -> tuple[Call, ...]:
        plan = plan_calls(open_calls, continuation, self.tools, self.gated)
        return tuple(ready.call for ready in plan.ready if not ready.tool.once)

    def _answer(self, approval: Approval, decision: Decision) -> dict[str, Any]:
        if decision.arguments is not None:
            try:
                self.tools[approval.tool].check(decision.arguments)
            except ToolArgumentError as error:
                raise ArgumentInvalidError("decisions.approve.arguments_json", str(error)) from None
            except KeyError:
                raise ArgumentInvalidError("decisions.approval_id", f"there is no tool {approval.tool!r}") from None
        if decision.value is not None:
            try:
                parse_strict(decision.value)
            except JsonError as error:
                raise ArgumentInvalidError("decisions.outcome.result_json", str(error)) from None
        row: dict[str, Any] = {"choice": decision.choice.value}
        if decision.reason:
            row["reason"] = decision.reason
        if approval.kind is ApprovalKind.TOOL_CALL and decision.choice is Choice.APPROVE:
            row["arguments"] = approval.arguments_json if decision.arguments is None else decision.arguments
        if decision.value is not None:
            row["value"] = decision.value
        if decision.output is not None:
            row["output"] = decision.output
        return row

    async def _ask(self, run: Run) -> None:
        changes = await hooked(run, self.hooks, "before_step", run.state_view)
        state = apply(run.thread.state, change) if (change := replacing(changes)) else run.thread.state
        instructions = await instructed(run, self.instructions, run.state_view())
        request = ModelRequest(
            instructions=instructions,
            messages=run.thread.transcript.before(run.thread.body.partial),
            tools=tuple(tool.spec for tool in (await known_tools(run, self.tools)).values()),
            settings=self.settings,
        )
        response, number = await answered(run, self.model, request)
        run.count_usage(response.usage)
        message, calls = self._message(run, response, number)
        changes |= await hooked(run, self.hooks, "after_step", lambda: _with_message(run, state, message))
        self.check_state(apply(run.thread.state, change) if (change := replacing(changes)) else run.thread.state)
        step = (run.thread.head.step if run.thread.head else 0) + 1
        draft = Draft(Source.STEP, messages=(message,), state=replacing(changes), step=step)
        if calls:
            first = (message.position if message.position is not None else run.thread.next_position) + 1
            started = self._starting([(first + index, call) for index, call in enumerate(calls)], TOOLS)
            draft = replace(draft, next=TOOLS, started=started)
        else:
            draft = replace(draft, status=Status.COMPLETED, usage=run.usage(response.usage))
        try:
            await run.thread.commit(draft)
        except StateTooLargeError as error:
            if changes:
                raise
            why = f"the model's reply cannot be kept: {error.message}"
            raise ModelError("model_rejected", why, retryable=False) from None

    def _message(self, run: Run, response: ModelResponse, number: int) -> tuple[DraftMessage, tuple[ToolCallPart, ...]]:
        content = minted(response.content, f"call_{run.thread.version + 1}", response)
        calls = tuple(part for part in content if isinstance(part, ToolCallPart))
        return DraftMessage(
            role="assistant",
            content=content,
            position=run.thread.body.partial,
            number=number,
            reserve=len(calls),
            model=response.model,
            usage=response.usage,
            finish_reason=response.finish_reason,
            provider=response.provider,
        ), calls


def minted(content: tuple[Part, ...], prefix: str, response: ModelResponse) -> tuple[Part, ...]:
    """The content with call ids of our own, as `ids.call_id` makes them: providers' repeat, or break another's pattern."""
    ours: list[Part] = []
    number = 0
    for part in content:
        if isinstance(part, ToolCallPart):
            provider = part.provider
            if part.id:
                own = provider or Provider(name=response.provider.name if response.provider else response.model)
                provider = replace(own, id=own.id or part.id)
            ours.append(replace(part, id=f"{prefix}_{number}", provider=provider))
            number += 1
        else:
            ours.append(part)
    return tuple(ours)


def _with_message(run: Run, state: Mapping[str, bytes], message: DraftMessage) -> StateView:
    said = Message(
        id=ids.message_id(run.thread.version + 1, message.number or 0),
        role=message.role,
        content=message.content,
        created_at_ms=run.storage.now_ms(),
        usage=message.usage,
        finish_reason=message.finish_reason,
    )
    return run.state_view(state, said)
