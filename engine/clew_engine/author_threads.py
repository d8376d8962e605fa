"""Threads for authors' plain functions. One that never returns holds its own thread, no other function back, and not the process's end."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_IDLE_MOST = 16


class _Worker(threading.Thread):
    """Runs one call after the other, as long as it is kept."""

    def __init__(self, pool: AuthorThreads, first: Callable[[], None]) -> None:
        # A daemon: the interpreter does not wait for a function that hangs.
        super().__init__(name="clew-author", daemon=True)
        self._pool = pool
        self._call: Callable[[], None] | None = first
        self._wake = threading.Event()

    def give(self, call: Callable[[], None] | None) -> None:
        self._call = call
        self._wake.set()

    def run(self) -> None:
        while self._call is not None:
            self._call()
            self._call = None
            if not self._pool.keep(self):
                return
            self._wake.wait()
            self._wake.clear()


class AuthorThreads:
    """As many threads as calls under way, and a few idle ones. `concurrent.futures` has a limit that hung functions use up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: deque[_Worker] = deque()

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in a thread, in the caller's context. A caller that is cancelled leaves the function to itself."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                result = context.run(function, *args)
            except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the caller
                _tell(loop, outcome, None, _tellable(error))
            else:
                _tell(loop, outcome, result, None)

        with self._lock:
            worker = self._idle.pop() if self._idle else None
        if worker is None:
            _Worker(self, work).start()
        else:
            worker.give(work)
        return await outcome

    def keep(self, worker: _Worker) -> bool:
        """Whether an idle worker is to wait for more."""
        with self._lock:
            if len(self._idle) >= _IDLE_MOST:
                return False
            self._idle.append(worker)
            return True


def _tellable(error: BaseException) -> BaseException:
    """The error, or another where it is one that no future may hold: the call would never end."""
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError("it raised StopIteration")
    told.__cause__ = error
    return told


def _tell(
    loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[T], result: Any, error: BaseException | None
) -> None:
    def settle() -> None:
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(result)
        else:
            outcome.set_exception(error)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        # The loop is closed: nobody waits any more.
        return


THREADS = AuthorThreads()
