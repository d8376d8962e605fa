"""What a caller sees, in one form for both surfaces: events, and the turn that a stream of them makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TERMINAL = frozenset({"run_completed", "run_suspended", "run_failed"})
LOGGED = TERMINAL | {
    "run_started",
    "tool_call_started",
    "tool_call_finished",
    "approval_requested",
    "checkpoint_written",
}


@dataclass(frozen=True)
class Seen:
    """One event."""

    type: str
    version: int
    last: bool
    run_id: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """A stream that came to its end."""

    events: tuple[Seen, ...]

    @property
    def end(self) -> Seen:
        """The terminal event."""
        assert self.events, "the stream said nothing"
        assert self.events[-1].type in TERMINAL, f"the stream ended with {self.events[-1]}"
        return self.events[-1]

    @property
    def status(self) -> str:
        """How the attempt ended: completed, suspended or failed."""
        return self.end.type.removeprefix("run_")

    @property
    def text(self) -> str:
        """The reply's text."""
        return str(self.end.data.get("text", ""))

    @property
    def failure(self) -> str:
        """The code of a failed run."""
        return str(self.end.data.get("code", ""))

    @property
    def approvals(self) -> list[str]:
        """The ids of what it waits for."""
        return list(self.end.data.get("approvals", ()))

    @property
    def version(self) -> int:
        """The version that it ended with."""
        return self.end.version

    @property
    def run_id(self) -> str:
        """The run."""
        return self.end.run_id

    def of(self, kind: str) -> list[Seen]:
        """The events of one kind."""
        return [event for event in self.events if event.type == kind]

    @property
    def logged(self) -> list[Seen]:
        """What a replay gives too."""
        return [event for event in self.events if event.type in LOGGED]


class Reader:
    """Reads a stream in the background, so that a test can wait for what it says."""

    def __init__(self, events: Callable[[], AsyncIterator[Seen]]) -> None:
        self.seen: list[Seen] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(events))
        # A test need not read the end of every stream.
        self._task.add_done_callback(lambda task: None if task.cancelled() else task.exception())

    async def _read(self, events: Callable[[], AsyncIterator[Seen]]) -> None:
        try:
            async for event in events():
                self.seen.append(event)
                self._news.set()
        finally:
            self._news.set()

    @property
    def over(self) -> bool:
        """Whether the stream has ended, one way or the other."""
        return self._task.done()

    async def until(self, kind: str, count: int = 1, *, within_s: float = 10) -> Seen:
        """Wait for the `count`th event of a kind. Raises what ended the stream before it."""
        async with asyncio.timeout(within_s):
            while True:
                found = [event for event in self.seen if event.type == kind]
                if len(found) >= count:
                    return found[count - 1]
                if self._task.done():
                    await self._task
                    raise AssertionError(f"the stream ended without {kind}: {[event.type for event in self.seen]}")
                self._news.clear()
                await self._news.wait()

    async def turn(self) -> Turn:
        """Read to the end. Raises what ended the stream."""
        async with asyncio.timeout(20):
            await asyncio.shield(self._task)
        return Turn(tuple(self.seen))

    async def gone(self) -> None:
        """Wait until the stream has ended, however it did."""
        await asyncio.wait({self._task}, timeout=10)
        assert self._task.done()

    async def leave(self) -> None:
        """Go away in the middle, and wait until that is dealt with."""
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=10)
