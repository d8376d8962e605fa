"""What the author of a node calls: a pause for a person, and steps that are not done twice."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from clew_engine.author_threads import THREADS
from clew_engine.errors import StateTooLargeError
from clew_engine.json_text import JsonError, encode, parse_strict
from clew_engine.runs import RunStopped
from clew_engine.tools import Tool, ToolResultError
from clew_engine.workflows.node_context import NodeContext, current
from clew_engine.workflows.step_failures import StepFailedError, failure_from
from clew_engine.workflows.timed_calls import ToolTimedOutError, in_time
from clew_storage import StorageError

T = TypeVar("T")
Function = Callable[..., Any] | Tool
# What is no outcome of the step, but the end of the run.
_ENDS = (RunStopped, StorageError)
# What is one; an author's function that exits has failed.
_RAISES = (Exception, SystemExit, KeyboardInterrupt)
__all__ = ["ToolTimedOutError", "pause", "step", "step_sync"]


def pause(value: Any, schema: Mapping[str, Any] | type[Any] | None = None) -> Any:
    """Suspend the run until a person answers, and return the answer. `value` is what they are shown.

    With a JSON `schema`, or a type that has one (a pydantic model, `int`), an answer that does not fit is refused; it comes as JSON says it. The node is entered again at its start: what it did before is done again, but for
    `step` and agents, whose results are kept. Raises PauseRejectedError when a person rejects.
    """
    return current().pause(value, schema)


async def step(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """Call a function (or a tool, by keyword) and keep its result, which must be JSON: entered again, the node gets the result it had.

    A plain function runs in a thread. What it raises is kept too, and raised as StepFailedError, now and when the node is entered again; a retry tries
    again what the node let pass. A `once` step is never started twice by itself: where its outcome was not recorded, a person is asked.
    """
    context = current()
    key = context.key_of(name)
    function = await context.as_said(function)
    known = await _known(context, key, name, function, once, kwargs)
    if known is None:
        try:
            known = await _kept(context, key, await _called(context, key, function, args, kwargs))
        except _ENDS:
            raise
        except _RAISES as error:
            failed = await _failed(context, key, error)
            context.acknowledge(function, context.step_id(key))
            raise failed from error
        context.acknowledge(function, context.step_id(key))
    return parse_strict(known)


def step_sync(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """As `step`, for nodes that are plain functions; a plain function is called where it stands."""
    context = current()
    key = context.key_of(name)
    function = _on_loop(context, context.as_said(function))
    known = _on_loop(context, _known(context, key, name, function, once, kwargs))
    if known is None:
        try:
            if isinstance(function, Tool):
                result = _on_loop(context, _called(context, key, function, args, kwargs))
            else:
                result = function(*args, **kwargs)
                if inspect.isawaitable(result):
                    result = _on_loop(context, _awaited(result))
            known = _on_loop(context, _kept(context, key, result))
        except _ENDS:
            raise
        except _RAISES as error:
            failed = _on_loop(context, _failed(context, key, error))
            context.step.loop.call_soon_threadsafe(context.acknowledge, function, context.step_id(key))
            raise failed from error
        context.step.loop.call_soon_threadsafe(context.acknowledge, function, context.step_id(key))
    return parse_strict(known)


async def _known(
    context: NodeContext, key: str, name: str, function: Function, once: bool, kwargs: Mapping[str, Any]
) -> bytes | None:
    """What was recorded of the step, or a person says of it; None when it is to be run, and its beginning is recorded where it must be."""
    known = context.known(key)
    if known is not None:
        return known
    context.check_failed(key)
    arguments = ""
    if isinstance(function, Tool):
        arguments = encode(kwargs).decode()
        once = once or function.once
        if function.needs_approval(arguments):
            raise RuntimeError(
                f"calls of tool {function.name!r} wait for a person: ask with pause() and give its function, or give the tool to an agent"
            )
    if once:
        try:
            known = await context.begin_once(key, context.outcome_question(key, name, arguments))
        except StepFailedError as error:
            raise await context.fail(error) from None
        if known is not None:
            await context.record({key: known})
    if known is None:
        await context.run.thread.firmly()
    return known


async def _called(context: NodeContext, key: str, function: Function, args: Any, kwargs: Any) -> Any:
    if isinstance(function, Tool):
        values = function.check(encode(kwargs).decode())
        question = context.outcome_question(key, function.name, encode(kwargs).decode())
        given = context.tool_context(context.step_id(key), function.name)
        output = await in_time(context.run, function, lambda: function.call(values, given), question)
        return parse_strict(output.structured) if output.structured else "".join(_texts(output.content))
    if inspect.iscoroutinefunction(function):
        return await function(*args, **kwargs)
    result = await THREADS.call(lambda: function(*args, **kwargs))
    return await result if inspect.isawaitable(result) else result


def _on_loop(context: NodeContext, work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        work.close()
        raise RuntimeError("step_sync is for plain functions; an async node awaits step")
    try:
        return asyncio.run_coroutine_threadsafe(work, context.step.loop).result()
    except concurrent.futures.CancelledError:
        # That one is an Exception, and what stops a run must pass every `except Exception`.
        raise asyncio.CancelledError from None


async def _awaited(value: Any) -> Any:
    return await value


async def _kept(context: NodeContext, key: str, result: Any) -> bytes:
    """Record a result. Raises ToolResultError or StateTooLargeError for one that cannot be."""
    try:
        value = encode(result)
    except JsonError as error:
        raise ToolResultError(f"it returned what JSON cannot hold: {error}") from None
    await context.record({key: value})
    return value


async def _failed(context: NodeContext, key: str, error: BaseException) -> StepFailedError:
    """Record what a step raised; gives what its node gets to see."""
    done = isinstance(error, ToolResultError | StateTooLargeError)
    return await context.fail(failure_from(error, (context.node, key), done=done))


def _texts(content: Any) -> list[str]:
    return [getattr(part, "text", "") for part in content]
