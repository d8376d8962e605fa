"""One call whose responses are read one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Generic, Protocol, TypeVar

Resp = TypeVar("Resp")
Resp_co = TypeVar("Resp_co", covariant=True)


class Call(AsyncIterable[Resp_co], Protocol[Resp_co]):
    """A call that streams its responses."""

    def cancel(self) -> bool:
        """Give it up."""


class SilentError(Exception):
    """Nothing came for so long that the connection must be dead."""


class Line(Generic[Resp]):
    """Reads a call in a task of its own, so that a reader who is cancelled has not thereby cancelled the call."""

    def __init__(self, call: Call[Resp]) -> None:
        self._call = call
        self._responses: AsyncIterator[Resp] = aiter(call)
        self._reading: asyncio.Task[Resp | None] | None = None

    async def read(self, silence: float | None = None) -> Resp | None:
        """The next response; None at the end. Raises what the call ended with, and SilentError when nothing came for that many seconds."""
        if self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._next())
        reading = self._reading
        if not (await asyncio.wait((reading,), timeout=silence))[0]:
            raise SilentError
        if self._reading is reading:
            self._reading = None
        try:
            return None if reading.cancelled() else reading.result()
        finally:
            # An error's traceback holds this frame, and the task holds the error: the call would live until the garbage is collected.
            del reading

    def close(self) -> None:
        """Give the call up. Not to be read afterwards."""
        self._call.cancel()
        if self._reading is not None:
            self._reading.add_done_callback(_heed)

    async def _next(self) -> Resp | None:
        return await anext(self._responses, None)


def _heed(reading: asyncio.Task[Resp | None]) -> None:
    """Nobody waits for it any more; asyncio need not report how it ended."""
    if not reading.cancelled():
        reading.exception()
