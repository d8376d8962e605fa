"""A book outside the process under test, in which tools write what they do before they go on."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Phase = Literal["started", "done"]


@dataclass(frozen=True)
class Entry:
    """A tool began or ended a call. `token` is what it returned, and returned only once."""

    phase: Phase
    tool: str
    run: str
    call: str
    key: str
    pid: int
    token: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """The call within its run: a rewound run has calls of its own."""
        return self.run, self.call


class Ledger:
    """Entries are lines, each on the disk before the tool goes on; processes that are killed leave whole lines."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entry: Entry) -> None:
        """Write an entry in one go, and wait for the disk."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, json.dumps(asdict(entry)).encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)

    async def started(self, runs: Collection[str], calls: int) -> None:
        """Wait until so many calls of these runs have begun."""
        async with asyncio.timeout(20):
            while sum(each.phase == "started" and each.run in runs for each in self.entries()) < calls:  # noqa: ASYNC110 - the tools tell nobody
                await asyncio.sleep(0.01)

    def entries(self) -> list[Entry]:
        """Everything so far."""
        if not self.path.exists():
            return []
        return [Entry(**json.loads(line)) for line in self.path.read_text().splitlines()]
