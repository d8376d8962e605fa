"""The blocking form of every verb: one event loop in the background, and wrappers that run the async form on it."""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from clew.streams import Stream

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class Closable(Protocol):
    """What has to be closed on the loop that it was used on."""

    def close(self) -> Coroutine[Any, Any, None]:
        """Let go what is open."""


class Background:
    """An event loop on a thread of its own, started by its first use and stopped when the interpreter ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._clients: weakref.WeakSet[Closable] = weakref.WeakSet()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work gives. An interrupt (Ctrl-C) cancels it, and comes out when it has ended."""
        loop = self._started()
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError(
                "a blocking form was called from the client's own event loop; await the other form there"
            )
        job = _Job(work)
        try:
            loop.call_soon_threadsafe(job.start, loop)
            job.done.wait()
        except BaseException:
            loop.call_soon_threadsafe(job.cancel)
            job.done.wait()
            raise
        return job.outcome()

    def iterate(self, stream: Stream[T]) -> Generator[T, None, None]:
        """The stream's items. Leaving the loop leaves the stream, and waits until that has its effect."""
        items = aiter(stream)
        ended = object()
        try:
            while (item := self.run(_next(items, ended))) is not ended:
                yield item  # type: ignore[misc]  # what is not the mark is an item
        finally:
            if self._loop is not None:
                self.run(items.aclose())

    def is_mine(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether it is this one."""
        return loop is self._loop

    def close_at_exit(self, client: Closable) -> None:
        """What has something open on the loop, and so must be closed before it stops."""
        self._clients.add(client)

    def stop(self) -> None:
        """Close what is open on the loop, and end it."""
        if self._loop is None or self._thread is None:
            return
        for client in list(self._clients):
            self.run(client.close())
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_serve, args=(loop,), name="clew-blocking", daemon=True)
                self._thread.start()
            return self._loop


class _Job(Generic[T]):
    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self.done = threading.Event()
        self._work = work
        self._task: asyncio.Task[T] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._work)
        self._task.add_done_callback(lambda _: self.done.set())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:  # interrupted before it was begun
            self._work.close()
            self.done.set()

    def outcome(self) -> T:
        assert self._task is not None
        return self._task.result()


BACKGROUND = Background()
atexit.register(BACKGROUND.stop)


def blocking(verb: Callable[Concatenate[S, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[S, P], T]:
    """The blocking form of an async verb."""

    @functools.wraps(verb)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return BACKGROUND.run(verb(self, *args, **kwargs))

    return _named(call, verb)


def iterating(verb: Callable[Concatenate[S, P], Stream[T]]) -> Callable[Concatenate[S, P], Generator[T, None, None]]:
    """The blocking form of a verb that streams: a plain iterator."""

    @functools.wraps(verb)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        return BACKGROUND.iterate(verb(self, *args, **kwargs))

    return _named(call, verb)


def _named(call: Callable[P, T], verb: Callable[..., Any]) -> Callable[P, T]:
    call.__name__ = f"{verb.__name__}_sync"
    call.__qualname__ = f"{verb.__qualname__}_sync"
    return call


async def _next(items: AsyncGenerator[T, None], ended: object) -> T | object:
    return await anext(items, ended)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _start_anew() -> None:
    """A child of a fork has no thread; it starts its own."""
    BACKGROUND.__init__()  # type: ignore[misc]  # the object is shared by every wrapper


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
