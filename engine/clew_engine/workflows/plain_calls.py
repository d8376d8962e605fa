"""Plain functions of nodes and steps: each holds a thread of its own, and nothing else back."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_THREADS = ThreadPoolExecutor(max_workers=64, thread_name_prefix="clew-node")


async def called_in_thread(function: Callable[[], Any]) -> Any:
    """What a plain function returns, called in a thread with the caller's context; where that is awaitable, what it comes to."""
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    result = await loop.run_in_executor(_THREADS, lambda: context.run(_called, function))
    return await result if inspect.isawaitable(result) else result


def _called(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except StopIteration as error:
        # No future may hold one: the call would never end.
        raise RuntimeError("it raised StopIteration") from error
