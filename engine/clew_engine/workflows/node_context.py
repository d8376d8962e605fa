"""What a node may ask of the engine while it runs: a pause for a person, and steps that are not done twice."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clew_engine.approvals import ApprovalKind, Choice, Question
from clew_engine.checkpoints import step_id
from clew_engine.drafts import Draft
from clew_engine.json_text import JsonError, encode, parse_strict
from clew_engine.tools import Tool, ToolContext
from clew_engine.workflows.memos import Memos
from clew_storage import Source

if TYPE_CHECKING:
    from clew_engine.runs import Run

# What a continuation keeps of a step: answers by what they are about, what was asked, and steps that another line has started.
ANSWERS, ASKED, STARTED = "answers", "asked", "started"
Function = Callable[..., Any] | Tool
_CURRENT: ContextVar[NodeContext] = ContextVar("clew_node")


class Paused(BaseException):
    """The node waits for the answer to a question; it is entered again at its start when that is in."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(", ".join(question.subject for question in questions))
        self.questions = questions


class PauseRejectedError(Exception):
    """A person rejected what a pause asked, or its time was over; the text is the reason."""


class StepFailedError(Exception):
    """A person said that a step, whose outcome nobody recorded, had failed."""


@dataclass
class NodeContext:
    """A node's run within a step: its answers by subject, its memos, and how often it has paused or named a step."""

    run: Run
    node: str
    continuation: dict[str, Any]
    memos: Memos
    loop: asyncio.AbstractEventLoop
    _paused: int = 0
    _named: Counter[str] = field(default_factory=Counter)

    @property
    def number(self) -> int:
        """The number of the step under way."""
        return self.run.thread.head.step if self.run.thread.head else 0

    def inside(self, name: str) -> NodeContext:
        """The context of something with a name of its own within this node."""
        return NodeContext(self.run, f"{self.node}/{name}", self.continuation, self.memos, self.loop)

    def answer(self, subject: str) -> Mapping[str, Any] | None:
        """The answer to a question, or None while it waits."""
        found: Mapping[str, Any] | None = self.continuation.get(ANSWERS, {}).get(subject)
        return found

    def pause(self, value: Any, schema: Mapping[str, Any] | None) -> Any:
        """See the module's `pause`."""
        subject = f"{self.node}:{self._paused}"
        self._paused += 1
        answer = self.answer(subject)
        if answer is None:
            raise Paused(
                Question(
                    ApprovalKind.PAUSE,
                    subject,
                    prompt=encode(value).decode(),
                    schema=encode(schema).decode() if schema is not None else "",
                )
            )
        if answer["choice"] == Choice.REJECT:
            raise PauseRejectedError(answer.get("reason") or "a person rejected it")
        return parse_strict(answer["value"])

    async def step(self, name: str, function: Function, once: bool, args: Any, kwargs: Any) -> Any:
        """See the module's `step`."""
        key = f"{name}#{self._named[name]}"
        self._named[name] += 1
        known = self.memos.get(self.node, key)
        if known is not None:
            return parse_strict(known)
        once = once or (isinstance(function, Tool) and function.once)
        value = await self._unknown(key, name) if once else None
        if value is None:
            if once:
                await self._intend(key)
            value = _encoded(name, await self._called(key, function, args, kwargs))
        await self.record(key, value)
        return parse_strict(value)

    async def _unknown(self, key: str, name: str) -> bytes | None:
        """What a person says of a step that was started and has no record; None to run it."""
        elsewhere = step_id(self.node, key, self.number) in self.continuation.get(STARTED, ())
        if not elsewhere and not self.memos.has_started(self.node, key):
            return None
        answer = self.answer(f"{self.node}/{key}")
        if answer is None:
            raise Paused(Question(ApprovalKind.TOOL_OUTCOME, f"{self.node}/{key}", tool=name))
        if answer["choice"] == Choice.FAIL:
            raise StepFailedError(answer.get("reason") or f"a person said that {name} failed")
        if answer["choice"] == Choice.RESULT:
            return str(answer["value"]).encode()
        # Good for one more start: the next write of the step no longer has the answer.
        self.continuation[ANSWERS] = {
            subject: given for subject, given in self.continuation[ANSWERS].items() if subject != f"{self.node}/{key}"
        }
        return None

    async def _called(self, key: str, function: Function, args: Any, kwargs: Any) -> Any:
        if isinstance(function, Tool):
            output = await function.call(function.check(encode(kwargs).decode()), self.tool_context(key))
            return parse_strict(output.structured) if output.structured else "".join(_texts(output.content))
        result = function(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    def tool_context(self, key: str) -> ToolContext:
        """What a tool may know of its call from this node."""
        run = self.run
        call = step_id(self.node, key, self.number)
        return ToolContext(
            thread_id=run.thread.key.thread_id,
            run_id=run.thread.run_id,
            call_id=call,
            idempotency_key=run.idempotency_key(call),
            actor=run.actor,
            state=run.state_view(),
        )

    async def _intend(self, key: str) -> None:
        self.run.check()
        self.memos.start(self.node, key)
        await self.run.thread.commit(Draft(Source.INTENT, next=self.continuation, memos=((self.node, key, ""),)))

    async def record(self, key: str, value: bytes) -> None:
        """Make what was done under a key durable, so that it is not done again."""
        self.run.check()
        self.memos.put(self.node, key, value)
        memo = (self.node, key, value.decode())
        await self.run.thread.commit(Draft(Source.STEP, next=self.continuation, memos=(memo,)))


def enter(context: NodeContext) -> None:
    """Make a node's context the one of the code that follows in this task."""
    _CURRENT.set(context)


def current() -> NodeContext:
    """The context of the node that runs in this task. Raises RuntimeError outside of any."""
    context = _CURRENT.get(None)
    if context is None:
        raise RuntimeError("pause and step belong inside a workflow's node")
    return context


def pause(value: Any, schema: Mapping[str, Any] | None = None) -> Any:
    """Suspend the run until a person answers, and return the answer. `value` is what they are shown.

    With a JSON `schema` an answer that does not fit is refused. The node is entered again at its start: what it did before is done again, but for
    `step` and tools, whose results are kept. Raises PauseRejectedError when a person rejects.
    """
    return current().pause(value, schema)


async def step(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """Call a function (or a tool, by keyword) and keep its result, which must be JSON: entered again, the node gets the result it had.

    A `once` step is never started twice by itself: where its outcome was not recorded, a person is asked.
    """
    return await current().step(name, function, once, args, kwargs)


def step_sync(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """As `step`, for nodes that are plain functions."""
    context = current()
    call = context.step(name, function, once, args, kwargs)
    return asyncio.run_coroutine_threadsafe(call, context.loop).result()


def _encoded(name: str, result: Any) -> bytes:
    try:
        return encode(result)
    except JsonError as error:
        raise TypeError(f"step {name!r} returned what JSON cannot hold: {error}") from None


def _texts(content: Any) -> list[str]:
    return [getattr(part, "text", "") for part in content]
