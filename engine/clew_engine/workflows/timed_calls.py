"""Tools that a node calls, within the time that they and the run's limits give them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from clew_engine.approvals import Question
from clew_engine.call_desk import NoWorkerError, OutcomeUnknownError
from clew_engine.tools import Tool, ToolOutput
from clew_engine.workflows.node_context import Paused

if TYPE_CHECKING:
    from clew_engine.runs import Run


class ToolTimedOutError(Exception):
    """A tool took longer than its own `timeout`."""


async def in_time(
    run: Run, tool: Tool, call: Callable[[], Awaitable[ToolOutput]], unknown: Question, limit: float | None = None
) -> ToolOutput:
    """The tool's output. Raises ToolTimedOutError; a tool that is done once leaves a question instead, and the limit of the run (or `limit`) stops it."""
    most = min((each for each in (run.limits.tool_seconds, limit) if each is not None), default=None)
    limits = [each for each in (tool.timeout, most) if each is not None]
    task = asyncio.create_task(run.act(call))
    try:
        done, _ = await asyncio.wait({task}, timeout=min(limits, default=None))
    except asyncio.CancelledError:
        # What ends in spite of it within the grace has an outcome.
        if await _ended(run, task):
            return task.result()
        raise
    if done or await _ended(run, task):
        try:
            return task.result()
        except OutcomeUnknownError:
            raise Paused(unknown) from None
        except NoWorkerError as error:
            run.stop("worker_unavailable", str(error))
            raise asyncio.CancelledError from None
    if tool.once:
        raise Paused(unknown)
    if tool.timeout is not None and (most is None or tool.timeout < most):
        raise ToolTimedOutError(f"{tool.name} timed out after {tool.timeout:g} s")
    run.stop("limit_exceeded", f"{tool.name} took longer than {most:g} s; retry runs it again with a new limit")
    raise asyncio.CancelledError


async def _ended(run: Run, task: asyncio.Task[ToolOutput]) -> bool:
    """Cancel, and say whether there is a result all the same."""
    task.cancel()
    await asyncio.wait({task}, timeout=run.grace_s)
    return task.done() and not task.cancelled() and task.exception() is None
