"""A worker as its supervisor sees it: a fresh interpreter, started again when it dies."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from dataclasses import dataclass

import structlog

from clew_server.cli.announcement import Announcement
from clew_server.cli.orders import STOP, Work

_log = structlog.stdlib.get_logger("clew.server")
# An announcement names every tool of every app.
_LINE_BYTES = 1 << 20


@dataclass(frozen=True)
class Patience:
    """With workers that die: pauses double from `first_s` up to `longest_s`, and after `deaths` in a row it is over.

    One that lived for `settled_s` was well.
    """

    first_s: float = 0.5
    longest_s: float = 30.0
    deaths: int = 8
    settled_s: float = 60.0

    def pause_s(self, deaths: int) -> float:
        """After so many deaths in a row."""
        doubled: float = self.first_s * 2 ** (deaths - 1)
        return min(self.longest_s, doubled)


class WorkerDied(Exception):  # noqa: N818 - what happened, and only sometimes a mistake
    """A worker ended that nobody told to. `code` is its exit code, or a signal's number as a negative one."""

    def __init__(self, number: int, code: int) -> None:
        super().__init__(f"worker {number} {_told(code)}")
        self.code = code


class WorkerProcess:
    """One of the workers. Its socket carries the orders, and tells it by its end that the supervisor is gone, however that died."""

    def __init__(self, work: Work, patience: Patience) -> None:
        self._work = work
        self._patience = patience
        self._process: asyncio.subprocess.Process | None = None
        self._line: asyncio.StreamWriter | None = None
        self._stopping = asyncio.Event()

    async def start(self) -> Announcement:
        """Start it, and wait until it serves. Raises WorkerDied; it has said why on stderr."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "clew_server.cli.worker", str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        reader, line = await asyncio.open_connection(sock=ours, limit=_LINE_BYTES)
        try:
            line.write(self._work.line())
            said = await reader.readline()
        except ConnectionError:
            said = b""
        if not said:
            line.close()
            raise WorkerDied(self._work.number, await self._process.wait())
        self._line = line
        if self._stopping.is_set():
            line.write(STOP)
        _log.info("a worker serves", worker=self._work.number, pid=self._process.pid)
        return Announcement.read(said)

    async def keep(self) -> None:
        """Put another in its place whenever it dies, until it is told to stop. Raises WorkerDied when they die again and again."""
        deaths = 0
        while True:
            began = time.monotonic()
            code = await self._ended()
            if self._stopping.is_set():
                return
            deaths = 1 if time.monotonic() - began > self._patience.settled_s else deaths + 1
            if deaths >= self._patience.deaths:
                raise WorkerDied(self._work.number, code)
            pause_s = self._patience.pause_s(deaths)
            _log.error("a worker ended", worker=self._work.number, why=_told(code), next_in_s=pause_s)
            try:
                await asyncio.wait_for(self._stopping.wait(), pause_s)
            except TimeoutError:
                await self._start_again()

    def tell(self, order: bytes) -> None:
        """To end, by one of the orders. One that does not serve yet ends at once."""
        self._stopping.set()
        if self._line is not None:
            self._line.write(order)
        else:
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End what does not end."""
        self._signal(signal.SIGKILL)

    async def _start_again(self) -> None:
        try:
            await self.start()
        except WorkerDied:
            # One more death, which `keep` counts.
            return

    async def _ended(self) -> int:
        assert self._process is not None
        code = await self._process.wait()
        if self._line is not None:
            self._line.close()
            self._line = None
        return code

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)


def _told(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
