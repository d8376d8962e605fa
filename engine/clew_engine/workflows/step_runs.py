"""One step of a workflow: its nodes side by side, each outcome a write, before their changes are merged."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from clew_engine import incidents
from clew_engine.approvals import Question
from clew_engine.author_threads import THREADS
from clew_engine.checkpoints import Failure
from clew_engine.drafts import Draft
from clew_engine.errors import ClewError, StateInvalidError, StateTooLargeError
from clew_engine.json_text import join_object, split_object
from clew_engine.models import ModelError
from clew_engine.runs import RunStopped
from clew_engine.state import check_size, encode_values, values_of
from clew_engine.workflows.continuations import without_answers
from clew_engine.workflows.memos import RETURNED, Memos
from clew_engine.workflows.node_context import NodeContext, Paused, PauseRejectedError, StepUnderWay, enter
from clew_engine.workflows.reducers import MergeError
from clew_engine.workflows.step_failures import words_of
from clew_storage import Source, StorageError

if TYPE_CHECKING:
    from clew_engine.runs import Run
    from clew_engine.state import StateView

Node = Callable[..., Any]
Check = Callable[[Mapping[str, bytes], str], None]


class StepRun:
    """The nodes of a step under way."""

    def __init__(
        self, run: Run, nodes: Mapping[str, Node], continuation: Mapping[str, Any], memos: Memos, check: Check
    ) -> None:
        self._run = run
        self._nodes = nodes
        self._shared = StepUnderWay(run, dict(continuation), memos, asyncio.get_running_loop())
        self._check = check
        self.returned: dict[str, dict[str, bytes]] = {
            node: split_object(value) for node, value in memos.returned().items() if node in nodes
        }
        self._unrecorded: str | None = None
        self._failures: list[Failure] = []
        self._rejected: list[str] = []
        self._asked: dict[str, list[Question]] = {}
        self._unknown: list[Question] = []

    @property
    def continuation(self) -> Mapping[str, Any]:
        """The step's, with what its nodes changed of it."""
        return self._shared.continuation

    @property
    def questions(self) -> list[Question]:
        """What people are to be asked, in the order of the nodes; first what was begun once and has no record."""
        asked = [question for name in self._nodes for question in self._asked.get(name, ())]
        return [*self._unknown, *(question for question in asked if question not in self._unknown)]

    async def execute(self) -> None:
        """Run every node that is not done, until each is, or asks something. Raises RunStopped when one failed, with what the others did recorded."""
        self._run.check()
        waiting = [name for name in self._nodes if name not in self.returned]
        tasks = {self._run.start(self._enter(name)): name for name in waiting}
        await self._finish(tasks)
        await self._run.thread.settle()
        self._run.check_held()
        if self._run.stopping.done():
            # What was begun once and has no record is for a person to say; nothing else makes a run that is to stop wait.
            self._unknown = self._shared.memos.unknown()
            self._asked = self._asked if self._unknown else {}
        if not self.questions:
            try:
                self._run.check()
            except RunStopped as stopped:
                stopped.memos = self._shared.passed
                raise
        if self._failures:
            next_ = without_answers(self.continuation, self._rejected) if self._rejected else None
            raise RunStopped(self._failures[0], next=next_, memos=self._shared.passed)

    def keep(self) -> None:
        """Record the outcome that was to be merged without a record of its own: it was not merged."""
        if self._unrecorded is not None:
            self._record(self._unrecorded)
            self._unrecorded = None

    async def _finish(self, tasks: Mapping[asyncio.Task[Any], str]) -> None:
        pending: set[asyncio.Future[Any]] = set(tasks)
        until: float | None = None
        while pending:
            stopping = self._run.stopping.done()
            if stopping and until is None:
                until = time.monotonic() + self._run.grace_s
            both = pending if stopping else pending | {self._run.stopping}
            timeout = None if until is None else max(0.0, until - time.monotonic())
            done, _ = await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                return
            for task, name in tasks.items():
                if task in done and task in pending:
                    pending.discard(task)
                    self._end(name, task, last=not pending)

    async def _enter(self, name: str) -> dict[str, bytes]:
        context = NodeContext(self._shared, name)
        enter(context)
        try:
            return await changed_keys(context, self._nodes[name], self._run.state_view(), self._check)
        finally:
            context.presence.over = True

    def _end(self, name: str, task: asyncio.Task[dict[str, bytes]], *, last: bool) -> None:
        if task.cancelled():
            if not self._run.stopping.done():
                self._failures.append(Failure("tool_failed", f"node {name!r} cancelled itself", retryable=True))
            return
        error = task.exception()
        if error is None:
            self.returned[name] = task.result()
            if last and not self._asked and not self._failures and not self._run.stopping.done():
                self._unrecorded = name
            else:
                self._record(name)
            return
        paused = [*pauses_of(error)]
        if paused:
            self._asked[name] = [question for each in paused for question in each.questions]
        elif isinstance(error, StorageError) or (isinstance(error, RunStopped) and self._run.stopping.done()):
            # The run was asked to stop, or lost its storage, while the node recorded a step: `settle` and `check` say so.
            return
        else:
            log(self._run, name, error)
            self._failures.append(failure_of(name, error))
            self._shared.ended_with(error)
            if isinstance(error, PauseRejectedError):
                # A retry asks again.
                self._rejected.append(error.subject)

    def _record(self, name: str) -> None:
        memo = (name, RETURNED, join_object(self.returned[name]).decode())
        self._run.thread.submit(Draft(Source.STEP, next=self.continuation, memos=(memo,)))


def pauses_of(error: BaseException) -> Iterator[Paused]:
    """The pauses that an error is: one, or a group of nothing else, as a TaskGroup raises it."""
    if isinstance(error, Paused):
        yield error
    elif isinstance(error, BaseExceptionGroup) and error.split(Paused)[1] is None:
        for each in error.exceptions:
            yield from pauses_of(each)


def failure_of(name: str, error: BaseException) -> Failure:
    """Why a run fails whose node raised this; what failed within the node says where itself."""
    where = {"node": name}
    if isinstance(error, RunStopped):
        stopped = error.failure
        if "node" in stopped.metadata:
            return stopped
        return Failure(
            stopped.code, f"node {name!r}: {stopped.message}", stopped.retryable, {**stopped.metadata, **where}
        )
    if isinstance(error, ModelError):
        return Failure(error.code, f"node {name!r}: {error.message}", error.retryable, where)
    if isinstance(error, MergeError):
        return Failure(
            error.code, f"node {name!r}: {error}", error.code != "state_conflict", {"key": error.key, **where}
        )
    said = error.message if isinstance(error, ClewError) else words_of(error)
    return Failure("tool_failed", f"node {name!r} failed: {said}", retryable=True, metadata=where)


def log(run: Run, name: str, error: BaseException) -> None:
    """Log what a node's code raised; but not what was logged where it happened, or needs no traceback to be understood."""
    if isinstance(error, (RunStopped, ModelError, PauseRejectedError, StateInvalidError, StateTooLargeError)):
        return
    if isinstance(error, MergeError) and error.__cause__ is None:
        return
    incidents.raised(f"node {name!r}", error, run.thread.key.thread_id)


async def changed_keys(context: NodeContext, function: Node, view: StateView, check: Check) -> dict[str, bytes]:
    """What a node's function returns, checked. Raises StateInvalidError for what are no keys of the state."""
    where = f"node {context.node}"
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        returned = await function(view)
    else:
        returned = await THREADS.call(function, view)
        returned = await returned if inspect.isawaitable(returned) else returned
    if returned is None:
        return {}
    values_by_key = values_of(returned)
    if values_by_key is None:
        kind = type(returned).__name__
        raise StateInvalidError(where, f"a node returns the keys it changes, or None, and not {kind}")
    values = encode_values(values_by_key, where)
    check(values, where)
    check_size(values, context.run.storage.tuning.state_limit)
    return values
