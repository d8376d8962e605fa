"""What the code of a node stands in while it runs: its answers, and the record of what is not to be done twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from clew_engine.approvals import ApprovalKind, Choice, Question
from clew_engine.calls import known_tools, somebody
from clew_engine.checkpoints import Call, Memo, step_id
from clew_engine.drafts import Draft
from clew_engine.errors import StateTooLargeError
from clew_engine.events import ToolCallProgress
from clew_engine.json_text import encode, parse_strict
from clew_engine.remote_tools import RemoteTool
from clew_engine.runs import RunStopped
from clew_engine.schemas import schema_from
from clew_engine.tools import Tool, ToolContext
from clew_engine.workflows.continuations import STARTED, answer_to, without_answers
from clew_engine.workflows.memos import Memos
from clew_engine.workflows.step_failures import AGAIN, FAILED, UNKNOWN, StepFailedError, let_pass, recorded_failure
from clew_storage import CallName, Source

if TYPE_CHECKING:
    from clew_engine.runs import Run

F = TypeVar("F")
_CURRENT: ContextVar[NodeContext] = ContextVar("clew_node")


class Paused(BaseException):
    """The node waits for the answer to a question; it is entered again at its start when that is in."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(", ".join(question.subject for question in questions))
        self.questions = questions


class PauseRejectedError(Exception):
    """A person rejected what a pause asked, or its time was over; the text is the reason."""

    def __init__(self, reason: str, subject: str = "") -> None:
        super().__init__(reason)
        self.subject = subject


@dataclass
class StepUnderWay:
    """What the nodes of a step share. What is changed of the continuation, all later writes of the step have too."""

    run: Run
    continuation: dict[str, Any]
    memos: Memos
    loop: asyncio.AbstractEventLoop
    _passed: dict[tuple[str, str], bytes] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The number of the step."""
        return self.run.thread.head.step if self.run.thread.head else 0

    def ended_with(self, error: BaseException) -> None:
        """A node failed: what it let pass of its steps' failures is tried again by a retry."""
        for failed in let_pass(error):
            if self.memos.get(failed.place[0], failed.place[1] + FAILED) is not None:
                self._passed[failed.place] = UNKNOWN if failed.done else AGAIN

    @property
    def passed(self) -> tuple[Memo, ...]:
        """What is to be recorded of that when the run fails."""
        return tuple((node, key + FAILED, value.decode()) for (node, key), value in self._passed.items())


@dataclass
class Presence:
    """Whether the node still runs: what it left behind must not write after it."""

    over: bool = False


@dataclass
class NodeContext:
    """A node's run within a step, and how often it has paused or named a step."""

    step: StepUnderWay
    node: str
    presence: Presence = field(default_factory=Presence)
    _paused: int = 0
    _named: Counter[str] = field(default_factory=Counter)

    @property
    def run(self) -> Run:
        """The run that the step belongs to."""
        return self.step.run

    def inside(self, name: str) -> NodeContext:
        """The context of something with a name of its own within this node."""
        return NodeContext(self.step, f"{self.node}/{name}", self.presence)

    def check(self) -> None:
        """Raises CancelledError, which no `except Exception` keeps, when the run is to stop; RuntimeError when the node is over."""
        try:
            self.run.check()
        except RunStopped:
            raise asyncio.CancelledError from None
        if self.presence.over:
            raise RuntimeError(f"node {self.node!r} is over: it must await all that it starts")

    def answer(self, subject: str) -> Mapping[str, Any] | None:
        """The answer to a question, or None while it waits."""
        return answer_to(self.step.continuation, subject)

    def pause(self, value: Any, schema: Mapping[str, Any] | type[Any] | None) -> Any:
        """See the `pause` of `steps`."""
        self.check()
        subject = f"{self.node}:{self._paused}"
        self._paused += 1
        return self.ask(_pause_question(subject, value, schema))

    def ask(self, question: Question) -> Any:
        """The answer to a pause's question. Raises Paused while it waits, and PauseRejectedError when a person rejects."""
        answer = self.answer(question.subject)
        if answer is None:
            raise Paused(question)
        if answer["choice"] == Choice.REJECT:
            raise PauseRejectedError(answer.get("reason") or "a person rejected it", question.subject)
        return parse_strict(answer["value"])

    def key_of(self, name: str) -> str:
        """The key of the next step of this name."""
        key = f"{name}#{self._named[name]}"
        self._named[name] += 1
        return key

    def known(self, key: str) -> bytes | None:
        """What was recorded under a key, or None."""
        self.check()
        return self.step.memos.get(self.node, key)

    def check_failed(self, key: str) -> None:
        """Raises StepFailedError where a failure was recorded under a key."""
        value = self.step.memos.get(self.node, key + FAILED)
        failure = recorded_failure(value, (self.node, key)) if value else None
        if failure is not None:
            raise failure

    async def fail(self, failure: StepFailedError) -> StepFailedError:
        """Record a step's failure, and give it to be raised."""
        node, key = failure.place
        assert node == self.node
        await self.record({key + FAILED: failure.encode()})
        return failure

    def step_id(self, key: str) -> str:
        """The id of what is done under a key, as its tool and a later line know it."""
        return step_id(self.node, key, self.step.number)

    def outcome_question(self, key: str, tool: str, arguments: str = "") -> Question:
        """What a person is asked about a step that was started and has no record."""
        return Question(ApprovalKind.TOOL_OUTCOME, f"{self.node}/{key}", tool=tool, arguments=arguments)

    async def begin_once(self, key: str, question: Question, *calls: Call) -> bytes | None:
        """Record that something done once is begun, and give None; or what a person says of it, where it was begun before.

        `calls` are what the record announces.

        Raises Paused while a person is to say it, and StepFailedError where one says that it failed.
        """
        self.check()
        elsewhere = self.step_id(key) in self.step.continuation.get(STARTED, ())
        settled = self.step.memos.is_settled(self.node, key)
        if (elsewhere and not settled) or self.step.memos.has_started(self.node, key):
            answer = self.answer(question.subject)
            if answer is None:
                raise Paused(question)
            if answer["choice"] == Choice.RESULT:
                return str(answer["value"]).encode()
            # Good for one more start, or one failure: from the next write on, the step no longer has the answer.
            kept = without_answers(self.step.continuation, [question.subject])
            self.step.continuation.update(kept)
            if answer["choice"] == Choice.FAIL:
                reason = answer.get("reason") or f"a person said that {question.tool} failed"
                raise StepFailedError(question.tool, "", reason, place=(self.node, key))
        text = self.step.memos.start(self.node, key, question)
        await self._write(Source.INTENT, ((self.node, key, text),), calls)
        return None

    async def announce(self, *calls: Call) -> None:
        """Tell that calls begin which no record of this attempt has told."""
        self.check()
        await self._write(Source.STEP, (), calls)

    async def record(self, values: Mapping[str, bytes], *calls: Call) -> None:
        """Make what was done durable, by its keys, so that it is not done again; also what was done while the run was asked to stop.

        `calls` are what begins with it.
        """
        limit = self.run.storage.tuning.state_limit
        for key, value in values.items():
            if len(value) > limit:
                raise StateTooLargeError(f"the result of {key.partition('#')[0]!r}", len(value), limit, "result")
        if self.presence.over:
            self.check()
            raise RuntimeError(f"node {self.node!r} is over: it must await all that it starts")
        for key, value in values.items():
            self.step.memos.put(self.node, key, value)
        memos = tuple((self.node, key, value.decode()) for key, value in values.items())
        await self._write(Source.STEP, memos, calls)
        self.check()

    def tool_context(self, call_id: str, name: str, *, fresh: bool = False) -> ToolContext:
        """What a tool may know of its call from this node; `fresh`: the call is of this attempt."""
        run = self.run
        return ToolContext(
            thread_id=run.thread.key.thread_id,
            run_id=run.thread.run_id,
            call_id=call_id,
            idempotency_key=run.idempotency_key(call_id),
            actor=run.actor,
            state=run.state_view(),
            tenant=run.thread.key.tenant,
            thread_uid=run.thread.uid,
            desk=run.storage.desk,
            tell=lambda progress: run.thread.emit(ToolCallProgress(call_id, name, progress, self.node)),
            stopped=lambda: run.stopped,
            resumed=run.resumes and run.steps <= 1 and not fresh,
        )

    async def as_said(self, function: F) -> F | Tool:
        """A function as it is, or a tool with what workers say of it."""
        if not isinstance(function, RemoteTool):
            return function
        await somebody(self.run, [function])
        return (await known_tools(self.run, {function.name: function}))[function.name]

    def acknowledge(self, tool: object, call_id: str) -> None:
        """What came of a call is recorded: a worker that brought it may forget it."""
        if isinstance(tool, RemoteTool):
            self.run.storage.desk.written(CallName(self.run.thread.key, self.run.idempotency_key(call_id)))

    async def _write(self, source: Source, memos: tuple[Memo, ...], calls: tuple[Call, ...]) -> None:
        self.run.check_held()
        await self.run.thread.commit(Draft(source, next=self.step.continuation, memos=memos, started=calls))


def enter(context: NodeContext) -> None:
    """Make a node's context the one of the code that follows in this task."""
    _CURRENT.set(context)


def current() -> NodeContext:
    """The context of the node that runs in this task. Raises RuntimeError outside of any."""
    context = _CURRENT.get(None)
    if context is None:
        raise RuntimeError("pause and step belong inside a workflow's node")
    return context


def _pause_question(subject: str, value: Any, given: Any) -> Question:
    schema = None if given is None else schema_from(given)
    return Question(
        ApprovalKind.PAUSE,
        subject,
        prompt=encode(value).decode(),
        schema=encode(schema).decode() if schema is not None else "",
    )
