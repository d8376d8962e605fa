"""The blocking forms: one generic layer over the async ones, for scripts and notebooks.

They run on the event loop that the handle's storage belongs to, or on one that this module keeps in a thread of its own.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

S = TypeVar("S")
P = ParamSpec("P")
R = TypeVar("R")


class _Loop:
    """An event loop in a thread, started at its first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._owners: set[Any] = set()
        self.is_over = False

    def serve(self, owner: object) -> asyncio.AbstractEventLoop:
        """The loop, which at the interpreter's end closes what has used it."""
        self._owners.add(owner)
        return self.get()

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="clew-blocking", daemon=True)
                self._thread.start()
                atexit.register(self._stop)
            return self._loop

    def _stop(self) -> None:
        self.is_over = True
        if self._loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(timeout=5)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=5)
            self._loop.close()

    async def _close(self) -> None:
        for owner in tuple(self._owners):
            await owner.close()


_LOOP = _Loop()
# How long a call that was interrupted may take to save what it did.
_LAST_WAIT_S = 15.0


def loop_of(owner: object) -> asyncio.AbstractEventLoop:
    """Where an object's blocking calls run."""
    storage = getattr(owner, "storage", owner)
    loop: asyncio.AbstractEventLoop | None = getattr(storage, "loop", None)
    if loop is None or loop.is_closed() or not loop.is_running():
        return _LOOP.serve(storage)
    return loop


def wait_for(owner: object, work: Callable[[], Awaitable[R]]) -> R:
    """Run async work to its end from a thread that runs no loop of its own; interrupting the wait cancels the work."""
    loop = loop_of(owner)
    try:
        running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is not None:
        raise RuntimeError("a blocking call inside an event loop would stop it; await the async form instead")

    begun: list[asyncio.Task[Any]] = []

    async def call() -> R:
        task = asyncio.current_task()
        assert task is not None
        begun.append(task)
        return await work()

    future = asyncio.run_coroutine_threadsafe(call(), loop)
    try:
        return future.result()
    except BaseException:
        if begun and not future.done():
            # What is interrupted is saved: the wait goes on until it is.
            loop.call_soon_threadsafe(begun[0].cancel)
            with suppress(BaseException):
                future.result(_LAST_WAIT_S)
        raise


def blocking(method: Callable[Concatenate[S, P], Awaitable[R]]) -> Callable[Concatenate[S, P], R]:
    """Make the blocking form of an async method; it has the same arguments."""

    @functools.wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return wait_for(self, lambda: method(self, *args, **kwargs))

    call.__doc__ = f"The blocking form of `{method.__name__}`, for code without an event loop."
    return call


def blocking_iterator(
    method: Callable[Concatenate[S, P], AsyncIterable[R]],
) -> Callable[Concatenate[S, P], Iterator[R]]:
    """The blocking form of a method that streams."""

    @functools.wraps(method)
    def iterate(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        stream = method(self, *args, **kwargs)
        items = aiter(stream)
        end: Any = object()

        async def following() -> Any:
            return await anext(items, end)

        async def leave() -> None:
            close = getattr(stream, "aclose", None) or getattr(items, "aclose", None)
            if close is not None:
                await close()

        try:
            while (item := wait_for(self, following)) is not end:
                yield item
        finally:
            # At the interpreter's end there is no loop any more, and the run is left for a retry.
            if not _LOOP.is_over:
                wait_for(self, leave)

    iterate.__doc__ = f"The blocking form of `{method.__name__}`, for code without an event loop."
    return iterate
