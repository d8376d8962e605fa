"""One step of a workflow: its nodes side by side, each outcome a write, and their changes merged when the last is in."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from clew_engine.approvals import Question
from clew_engine.checkpoints import Failure
from clew_engine.drafts import Draft
from clew_engine.errors import ClewError, StateInvalidError
from clew_engine.json_text import join_object, split_object
from clew_engine.runs import RunStopped
from clew_engine.state import encode_values
from clew_engine.workflows.memos import RETURNED, Memos
from clew_engine.workflows.node_context import NodeContext, Paused, enter
from clew_storage import Source, StorageError

if TYPE_CHECKING:
    from clew_engine.runs import Run
    from clew_engine.state import StateView

Node = Callable[..., Any]
Check = Callable[[Mapping[str, bytes], str], None]
# A plain node that blocks holds a thread of its own, and no other node back.
_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="clew-node")


class StepRun:
    """The nodes of a step under way."""

    def __init__(
        self, run: Run, nodes: Mapping[str, Node], continuation: Mapping[str, Any], memos: Memos, check: Check
    ) -> None:
        self._run = run
        self._nodes = nodes
        # What the nodes' own steps change of it, all later writes of the step have too.
        self.continuation = dict(continuation)
        self._memos = memos
        self._check = check
        self.returned: dict[str, dict[str, bytes]] = {
            node: split_object(value) for node, value in memos.returned().items() if node in nodes
        }
        self.questions: list[Question] = []
        self._failures: list[Failure] = []

    async def execute(self) -> None:
        """Run every node that is not done. Raises RunStopped when one failed, with what the others did recorded."""
        waiting = [name for name in self._nodes if name not in self.returned]
        tasks = {self._run.start(self._enter(name)): name for name in waiting}
        left = len(tasks)
        pending: set[asyncio.Future[Any]] = set(tasks)
        while pending:
            both = pending if self._run.stopping.done() else pending | {self._run.stopping}
            timeout = self._run.grace_s if self._run.stopping.done() else None
            done, _ = await asyncio.wait(both, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            for task in done & pending:
                pending.discard(task)
                left -= 1
                self._end(tasks[task], task, last=left == 0)  # type: ignore[index]
        await self._run.thread.settle()
        self._run.check()
        if self._failures:
            raise RunStopped(self._failures[0])

    async def _enter(self, name: str) -> dict[str, bytes]:
        run, function = self._run, self._nodes[name]
        view = run.state_view()
        enter(NodeContext(run, name, self.continuation, self._memos, asyncio.get_running_loop()))
        return await changed_keys(name, function, view, self._check)

    def _end(self, name: str, task: asyncio.Future[Any], *, last: bool) -> None:
        if task.cancelled():
            if not self._run.stopping.done():
                self._failures.append(Failure("tool_failed", f"node {name!r} cancelled itself", retryable=True))
            return
        error = task.exception()
        if error is None:
            self.returned[name] = task.result()
            if not last or self.questions or self._failures:
                memo = (name, RETURNED, join_object(task.result()).decode())
                self._run.thread.submit(Draft(Source.STEP, next=self.continuation, memos=(memo,)))
        elif isinstance(error, Paused):
            self.questions += error.questions
        elif isinstance(error, RunStopped | StorageError):
            # The run was asked to stop, or lost its storage, while the node recorded a step: `settle` and `check` say so.
            return
        else:
            self._failures.append(_failure(name, error))


def _failure(name: str, error: BaseException) -> Failure:
    said = error.message if isinstance(error, ClewError) else f"{type(error).__name__}: {error}"
    return Failure("tool_failed", f"node {name!r} failed: {said}", retryable=True, metadata={"node": name})


async def changed_keys(name: str, function: Node, view: StateView, check: Check) -> dict[str, bytes]:
    """What a node's function returns, checked. Raises StateInvalidError for what are no keys of the state."""
    returned = await _called(function, view)
    if returned is None:
        return {}
    if not isinstance(returned, Mapping):
        kind = type(returned).__name__
        raise StateInvalidError(f"node {name}", f"a node returns the keys it changes, or None, and not {kind}")
    values = encode_values(returned, f"node {name}")
    check(values, f"node {name}")
    return values


async def _called(function: Node, view: StateView) -> Any:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await function(view)
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    result = await loop.run_in_executor(_THREADS, lambda: context.run(function, view))
    return await result if inspect.isawaitable(result) else result
