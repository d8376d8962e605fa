"""A place in another process where a tool waits until the test lets it go on."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tests.faults import plans


class FileGate:
    """A named pipe that the tool reads to its end; once open it is an empty file, and nobody waits any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        # The gate that stood here before is open, and stays so for who is in it.
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    @property
    def environment(self) -> dict[str, str]:
        """What the process must know."""
        return {plans.GATE: str(self._path)}

    async def reached(self) -> None:
        """Wait until a tool stands at the gate: a pipe can be opened for writing when someone reads it."""
        self._handle = await asyncio.wait_for(asyncio.to_thread(os.open, self._path, os.O_WRONLY), 20)

    def open(self) -> None:
        """Let through what stands here and all that comes."""
        fresh = self._path.with_suffix(".open")
        fresh.touch()
        fresh.replace(self._path)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
