"""Tool calls of one step: run in parallel, each outcome a checkpoint of its own, gated ones asked about when the others are done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clew_engine.approvals import ApprovalKind, Choice, Question
from clew_engine.call_desk import FailedCallError, NoWorkerError, OutcomeUnknownError, decode_outcome
from clew_engine.causes import told
from clew_engine.checkpoints import Call, Checkpoint
from clew_engine.drafts import Draft, DraftMessage
from clew_engine.errors import StateTooLargeError
from clew_engine.events import ToolCallProgress
from clew_engine.messages import Outcome, TextPart, ToolCallPart, ToolResultPart
from clew_engine.remote_tools import RemoteTool
from clew_engine.tools import Tool, ToolArgumentError, ToolContext, ToolOutput, ToolResultError
from clew_storage import CallName, LeaseLost, Source, Status

if TYPE_CHECKING:
    from clew_engine.runs import Run

# What a continuation keeps of the calls of its step: decisions by call, outcomes a person gave, and `once` calls that were started.
DECIDED, OUTCOMES, INTENTS = "decided", "outcomes", "intents"
# Answers of a workflow's suspension that wait for its others: void, like those above, when it is given up.
GIVEN = "given"


class Settled(Struct, frozen=True):
    """A call whose outcome is known without running it."""

    position: int
    call: ToolCallPart
    outcome: Outcome
    output: ToolOutput


class Ready(Struct, frozen=True):
    """A call that may run, with the arguments that it runs with: as text, and as its function takes them."""

    position: int
    call: Call
    tool: Tool
    values: Mapping[str, Any]


@dataclass(slots=True)
class Plan:
    """What is to be done with the open calls of a step."""

    settled: list[Settled] = field(default_factory=list)
    ready: list[Ready] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def plan_calls(
    open_calls: list[tuple[int, ToolCallPart]],
    continuation: Mapping[str, Any],
    tools: Mapping[str, Tool],
    gated: frozenset[str],
) -> Plan:
    """Sort the open calls: settled without running, ready to run, or to be asked about. Pure."""
    plan = Plan()
    for position, call in open_calls:
        tool = tools.get(call.name)
        if tool is None:
            known = ", ".join(tools) or "none"
            plan.settled.append(
                Settled(position, call, "failed", _text(f"there is no tool {call.name!r}; tools: {known}"))
            )
            continue
        item = _judge(position, call, tool, continuation, call.name in gated)
        if isinstance(item, Settled):
            plan.settled.append(item)
        elif isinstance(item, Ready):
            plan.ready.append(item)
        else:
            plan.questions.append(item)
    return plan


async def planned(
    run: Run,
    open_calls: list[tuple[int, ToolCallPart]],
    continuation: Mapping[str, Any],
    tools: Mapping[str, Tool],
    gated: frozenset[str],
) -> Plan:
    """As `plan_calls`, with what workers say of their tools. Raises RunStopped where one is to run of which nobody has ever said anything."""
    plan = plan_calls(open_calls, continuation, await known_tools(run, tools), gated)
    remote = [ready for ready in plan.ready if isinstance(ready.tool, RemoteTool)]
    calls = [CallName(run.thread.key, run.idempotency_key(ready.call.id)) for ready in remote]
    if not await somebody(run, [ready.tool for ready in remote], calls):
        return plan
    return plan_calls(open_calls, continuation, await known_tools(run, tools), gated)


async def somebody(run: Run, tools: Iterable[Tool], calls: Sequence[CallName] = ()) -> bool:
    """Wait for workers that say how these tools are to be run, where that is not known; whether that was so.

    Raises RunStopped where nobody came in time: then nobody has had these calls of theirs.
    """
    tenant = run.thread.key.tenant
    unknown = {tool.name: tool for tool in tools if isinstance(tool, RemoteTool) and not tool.is_known(tenant)}
    if not unknown:
        return False
    try:
        await run.work(run.storage.desk.somebody(tenant, unknown))
    except NoWorkerError as error:
        await run.storage.desk.disown(calls)
        raise run.over("worker_unavailable", str(error)) from None
    return True


async def known_tools(run: Run, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
    """The tools, with what workers say of theirs."""
    theirs = {name: tool for name, tool in tools.items() if isinstance(tool, RemoteTool)}
    if not theirs:
        return tools
    tenant = run.thread.key.tenant
    said = await run.storage.desk.offered(tenant, *theirs)
    return {**tools, **{name: tool.as_said(tenant, said.get(name)) for name, tool in theirs.items()}}


def _judge(
    position: int, call: ToolCallPart, tool: Tool, continuation: Mapping[str, Any], always: bool
) -> Settled | Ready | Question:
    decision = continuation.get(DECIDED, {}).get(call.id, {})
    args = decision.get("arguments", call.args)
    try:
        values = tool.check(args)
        gated = always or _is_gated(tool, args)
    except ToolArgumentError as error:
        return Settled(position, call, "failed", _text(str(error)))
    if gated and not decision:
        return Question(ApprovalKind.TOOL_CALL, call.id, call.name, call.args)
    if decision.get("choice") == Choice.REJECT:
        reason = decision.get("reason") or "a person rejected this call"
        return Settled(position, call, "rejected", _text(reason))
    if call.id in continuation.get(INTENTS, ()):
        return _judge_started(position, call, args, continuation)
    return Ready(position, Call(call.id, call.name, args), tool, values)


def _is_gated(tool: Tool, args: str) -> bool:
    try:
        return tool.needs_approval(args)
    except Exception:  # noqa: BLE001 - a rule that cannot tell must not let a call through
        return True


def _judge_started(position: int, call: ToolCallPart, args: str, continuation: Mapping[str, Any]) -> Settled | Question:
    outcome = continuation.get(OUTCOMES, {}).get(call.id)
    if outcome is None:
        return Question(ApprovalKind.TOOL_OUTCOME, call.id, call.name, args)
    if outcome["choice"] == Choice.FAIL:
        reason = outcome.get("reason") or "a person said that this call failed"
        return Settled(position, call, "failed", _text(reason))
    return Settled(position, call, "done", known_output(outcome))


def known_output(outcome: Mapping[str, Any]) -> ToolOutput:
    """A result that was said afterwards: by a person as JSON, or by the call's worker as it was."""
    if output := outcome.get("output"):
        return decode_outcome(output.encode())
    return ToolOutput((), outcome["value"].encode())


def result_message(
    position: int,
    call_id: str,
    name: str,
    outcome: Outcome,
    output: ToolOutput,
) -> DraftMessage:
    """The message that holds a call's one outcome."""
    part = ToolResultPart(
        tool_call_id=call_id,
        name=name,
        content=output.content,
        structured=output.structured,
        is_error=outcome != "done",
        outcome=outcome,
    )
    return DraftMessage("tool", (part,), position=position)


class CallStep:
    """The calls of one step under way."""

    def __init__(self, run: Run, plan: Plan, continuation: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self._run = run
        self._plan = plan
        self._continuation = dict(continuation)
        self._after = after
        self._running: dict[asyncio.Task[ToolOutput], Ready] = {}
        self._deadlines: dict[asyncio.Task[ToolOutput], float] = {}
        self._unknown: list[Ready] = []
        self._left = len(plan.settled) + len(plan.ready) + len(plan.questions)

    async def execute(self) -> None:
        """Run what may run, record each outcome as it comes, then ask what must be asked."""
        await self._record_intents()
        for settled in self._plan.settled:
            self._record(settled.position, settled.call, settled.outcome, settled.output)
        self._run.check()
        if self._plan.ready:
            await self._run.thread.firmly()
        for ready in self._plan.ready:
            self._start(ready)
        try:
            while self._running:
                await self._wait()
        finally:
            for task in self._running:
                task.cancel()
        await self._run.thread.settle()
        if self._unknown or self._plan.questions:
            await self._suspend()
        else:
            self._run.check()

    async def _record_intents(self) -> None:
        once = tuple(ready.call for ready in self._plan.ready if ready.tool.once)
        if not once:
            return
        self._run.check()
        intents = [*self._continuation.get(INTENTS, ()), *(call.id for call in once)]
        self._continuation[INTENTS] = intents
        await self._run.thread.commit(Draft(Source.INTENT, next=self._continuation, started=once))

    def _start(self, ready: Ready) -> None:
        run = self._run
        context = ToolContext(
            thread_id=run.thread.key.thread_id,
            run_id=run.thread.run_id,
            call_id=ready.call.id,
            idempotency_key=run.idempotency_key(ready.call.id),
            actor=run.actor,
            state=run.state_view(),
            tenant=run.thread.key.tenant,
            thread_uid=run.thread.uid,
            desk=run.storage.desk,
            tell=lambda progress: run.thread.emit(ToolCallProgress(ready.call.id, ready.call.name, progress)),
            stopped=lambda: run.stopped,
            resumed=run.resumes and run.steps == 0,
        )
        task = run.start(run.act(lambda: ready.tool.call(ready.values, context)))
        self._running[task] = ready
        limit = _smallest(ready.tool.timeout, run.limits.tool_seconds)
        if limit is not None:
            self._deadlines[task] = time.monotonic() + limit

    async def _wait(self) -> None:
        run = self._run
        if run.stopping.done():
            run.check_held()
            await asyncio.wait(self._running, timeout=run.grace_s)
            for task in tuple(self._running):
                self._end(task, stopped=True)
            return
        soonest = min(self._deadlines.values(), default=None)
        timeout = None if soonest is None else max(0.0, soonest - time.monotonic())
        all_of_it: set[asyncio.Future[Any]] = {*self._running, run.stopping}
        done, _ = await asyncio.wait(all_of_it, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if run.stopping.done():
            # What ended just now may have been cancelled by the stop: the next round tells.
            return
        for task in [task for task in self._running if task in done]:
            self._end(task, stopped=False)
        now = time.monotonic()
        late = [task for task in self._running if self._deadlines.get(task, now + 1) <= now]
        if late:
            await self._time_out(late)

    async def _time_out(self, late: list[asyncio.Task[ToolOutput]]) -> None:
        for task in late:
            task.cancel()
        await asyncio.wait(late, timeout=self._run.grace_s)
        for task in late:
            ready = self._running[task]
            if task.done() and not task.cancelled() and task.exception() is None:
                self._end(task, stopped=False)
                continue
            self._forget(task)
            if ready.tool.once:
                self._unknown.append(ready)
                continue
            limit = self._run.limits.tool_seconds
            if ready.tool.timeout is None or (limit is not None and limit <= ready.tool.timeout):
                message = f"{ready.call.name} took longer than {limit:g} s; retry runs it again with a new limit"
                self._run.stop("limit_exceeded", message)
                continue
            self._record(
                ready.position,
                ready.call,
                "failed",
                _text(f"{ready.call.name} timed out after {ready.tool.timeout:g} s"),
            )

    def _end(self, task: asyncio.Task[ToolOutput], *, stopped: bool) -> None:
        ready = self._running[task]
        self._forget(task)
        if not task.done() or task.cancelled():
            if ready.tool.once and stopped:
                self._unknown.append(ready)
            elif not stopped:
                self._record(ready.position, ready.call, "failed", _text(f"{ready.call.name} cancelled itself"))
            return
        error = task.exception()
        if error is None:
            self._acknowledge(ready, self._record(ready.position, ready.call, "done", task.result()))
        elif isinstance(error, LeaseLost):
            raise error
        elif isinstance(error, OutcomeUnknownError):
            self._unknown.append(ready)
        elif isinstance(error, NoWorkerError):
            self._run.stop("worker_unavailable", str(error))
        elif isinstance(error, FailedCallError):
            self._acknowledge(ready, self._record(ready.position, ready.call, "failed", _text(str(error))))
        elif isinstance(error, ToolArgumentError | ToolResultError):
            self._record(ready.position, ready.call, "failed", _text(str(error)))
        else:
            self._record(ready.position, ready.call, "failed", _text(told(error)))

    def _acknowledge(self, ready: Ready, write: asyncio.Task[Checkpoint]) -> None:
        """A worker keeps its outcome until that is in the log."""
        if isinstance(ready.tool, RemoteTool):
            desk, call = (
                self._run.storage.desk,
                CallName(self._run.thread.key, self._run.idempotency_key(ready.call.id)),
            )
            write.add_done_callback(lambda done: desk.written(call) if _went_well(done) else None)

    def _forget(self, task: asyncio.Task[ToolOutput]) -> None:
        del self._running[task]
        self._deadlines.pop(task, None)

    def _record(
        self, position: int, call: Call | ToolCallPart, outcome: Outcome, output: ToolOutput
    ) -> asyncio.Task[Checkpoint]:
        self._left -= 1
        try:
            return self._submit(result_message(position, call.id, call.name, outcome, output))
        except (StateTooLargeError, ValueError) as error:
            refused = _text(f"the result of {call.name} cannot be kept: {error}")
            return self._submit(result_message(position, call.id, call.name, "failed", refused))

    def _submit(self, message: DraftMessage) -> asyncio.Task[Checkpoint]:
        return self._run.thread.submit(Draft(Source.STEP, next=self._next(), messages=(message,)))

    def _next(self) -> Mapping[str, Any]:
        return self._continuation if self._left else self._after

    async def _suspend(self) -> None:
        unknown = [
            Question(ApprovalKind.TOOL_OUTCOME, ready.call.id, ready.call.name, ready.call.args)
            for ready in self._unknown
        ]
        run = self._run
        if not unknown and run.stopping.done():
            run.check()
        questions = tuple(map(run.addressed, (*self._plan.questions, *unknown)))
        await run.thread.commit(
            Draft(Source.SUSPEND, Status.SUSPENDED, next=self._continuation, questions=questions, usage=run.usage()),
            run.stop_request,
        )


def _went_well(task: asyncio.Task[Any]) -> bool:
    return not task.cancelled() and task.exception() is None


def _text(text: str) -> ToolOutput:
    return ToolOutput((TextPart(text.encode("utf-8", "replace").decode()),))


def _smallest(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)
