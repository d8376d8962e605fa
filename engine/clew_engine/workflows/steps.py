"""What the author of a node calls: a pause for a person, and steps that are not done twice."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from clew_engine.author_threads import THREADS
from clew_engine.json_text import JsonError, encode, parse_strict
from clew_engine.tools import Tool
from clew_engine.workflows.node_context import NodeContext, current
from clew_engine.workflows.timed_calls import ToolTimedOutError, in_time

T = TypeVar("T")
Function = Callable[..., Any] | Tool
__all__ = ["ToolTimedOutError", "pause", "step", "step_sync"]


def pause(value: Any, schema: Mapping[str, Any] | None = None) -> Any:
    """Suspend the run until a person answers, and return the answer. `value` is what they are shown.

    With a JSON `schema` an answer that does not fit is refused. The node is entered again at its start: what it did before is done again, but for
    `step` and agents, whose results are kept. Raises PauseRejectedError when a person rejects.
    """
    return current().pause(value, schema)


async def step(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """Call a function (or a tool, by keyword) and keep its result, which must be JSON: entered again, the node gets the result it had.

    A plain function runs in a thread. A `once` step is never started twice by itself: where its outcome was not recorded, a person is asked.
    """
    context = current()
    key = context.key_of(name)
    known = await _known(context, key, name, function, once, kwargs)
    if known is None:
        known = _encoded(name, await _called(context, key, function, args, kwargs))
        await context.record({key: known})
    return parse_strict(known)


def step_sync(name: str, function: Function, /, *args: Any, once: bool = False, **kwargs: Any) -> Any:
    """As `step`, for nodes that are plain functions; a plain function is called where it stands."""
    context = current()
    key = context.key_of(name)
    known = _on_loop(context, _known(context, key, name, function, once, kwargs))
    if known is None:
        if isinstance(function, Tool):
            result = _on_loop(context, _called(context, key, function, args, kwargs))
        else:
            result = function(*args, **kwargs)
            if inspect.isawaitable(result):
                result = _on_loop(context, _awaited(result))
        known = _encoded(name, result)
        _on_loop(context, context.record({key: known}))
    return parse_strict(known)


async def _known(
    context: NodeContext, key: str, name: str, function: Function, once: bool, kwargs: Mapping[str, Any]
) -> bytes | None:
    """What was recorded of the step, or a person says of it; None when it is to be run, and its beginning is recorded where it must be."""
    known = context.known(key)
    if known is not None:
        return known
    arguments = ""
    if isinstance(function, Tool):
        arguments = encode(kwargs).decode()
        once = once or function.once
        if function.needs_approval(arguments):
            raise RuntimeError(
                f"calls of tool {function.name!r} wait for a person: ask with pause() and give its function, or give the tool to an agent"
            )
    if once:
        known = await context.begin_once(key, context.outcome_question(key, name, arguments))
        if known is not None:
            await context.record({key: known})
    return known


async def _called(context: NodeContext, key: str, function: Function, args: Any, kwargs: Any) -> Any:
    if isinstance(function, Tool):
        values = function.check(encode(kwargs).decode())
        question = context.outcome_question(key, function.name, encode(kwargs).decode())
        call = function.call(values, context.tool_context(context.step_id(key)))
        output = await in_time(context.run, function, call, question)
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


def _encoded(name: str, result: Any) -> bytes:
    try:
        return encode(result)
    except JsonError as error:
        raise TypeError(f"step {name!r} returned what JSON cannot hold: {error}") from None


def _texts(content: Any) -> list[str]:
    return [getattr(part, "text", "") for part in content]
