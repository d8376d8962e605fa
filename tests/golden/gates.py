"""Where tools of the served app say that they run, and wait while a case keeps their gate closed."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Self

Place = tuple[str, str]


class Gates:
    """By thread and tool. Gates are open unless `close` was called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: Counter[Place] = Counter()
        self._closed: set[Place] = set()
        self._waiting: defaultdict[Place, list[asyncio.StreamWriter]] = defaultdict(list)
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._hear, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for place in list(self._waiting):
            self.open(*place)

    def close(self, thread: str, tool: str) -> None:
        """From now on calls of the tool on this thread wait."""
        self._closed.add((thread, tool))

    def open(self, thread: str, tool: str) -> None:
        """Let those that wait go on, and those that come."""
        self._closed.discard((thread, tool))
        for writer in self._waiting.pop((thread, tool), ()):
            _let_go(writer)

    async def entered(self, thread: str, tool: str, times: int) -> None:
        """Until the tool was called on this thread so many times."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.runs[thread, tool] >= times)

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told = json.loads(await reader.readline())
        place = (told["thread"], told["tool"])
        async with self._changed:
            self.runs[place] += 1
            self._changed.notify_all()
        if place in self._closed:
            self._waiting[place].append(writer)
        else:
            _let_go(writer)


def _let_go(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        writer.write(b"go\n")
    writer.close()
