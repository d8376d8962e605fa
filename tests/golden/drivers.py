"""A driver: a program in some language that does with its client what it is told, by lines of JSON (README.md here)."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from tests.golden.languages import ROOT
from tests.golden.views import view

_LONGEST_LINE = 64 << 20


class DriverDiedError(Exception):
    """The driver ended, or said what no driver says."""


@dataclass
class Call:
    """One thing that a driver was told to do, and what came of it so far."""

    number: int
    events: list[dict[str, Any]] = field(default_factory=list)
    outcome: dict[str, Any] | None = None
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def take(self, told: Mapping[str, Any]) -> None:
        """What the driver says of it."""
        async with self._changed:
            if "event" in told:
                event = view("event", told["event"])
                if event is not None:
                    self.events.append(event)
            else:
                self.outcome = dict(told)
            self._changed.notify_all()

    async def ended(self) -> dict[str, Any]:
        """The outcome, when it is there."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.outcome is not None)
        assert self.outcome is not None
        return self.outcome

    async def until(self, kind: str, count: int) -> None:
        """Until so many events of a kind have come. Raises AssertionError where the call ends before."""

        def seen() -> bool:
            return [event["type"] for event in self.events].count(kind) >= count

        async with self._changed:
            await self._changed.wait_for(lambda: seen() or self.outcome is not None)
        assert seen(), f"the call ended before {count} {kind}: {self.outcome}"


class Driver:
    """A running one."""

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._calls: dict[int, Call] = {}
        self._reading = asyncio.create_task(self._read())

    async def begin(self, op: str, **args: Any) -> Call:
        """Tell it to do something, and go on."""
        if self._reading.done():
            raise DriverDiedError(await self._last_words())
        call = Call(len(self._calls) + 1)
        self._calls[call.number] = call
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"id": call.number, "op": op, **args}).encode() + b"\n")
        await self._process.stdin.drain()
        return call

    async def do(self, op: str, **args: Any) -> dict[str, Any]:
        """Tell it to do something, and wait for the outcome."""
        return await self.finish(await self.begin(op, **args))

    async def finish(self, call: Call) -> dict[str, Any]:
        """Wait for the outcome of a call."""
        ended = asyncio.create_task(call.ended())
        await asyncio.wait((ended, self._reading), return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            ended.cancel()
            raise DriverDiedError(await self._last_words())
        return ended.result()

    async def stop(self) -> None:
        """End it. What it still does is given up."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(10):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._reading.cancel()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            await self._calls[told["id"]].take(told)

    async def _last_words(self) -> str:
        if self._process.returncode is None:
            self._process.kill()
        code = await self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        return f"the driver ended with {code}: {said[-3000:]}"


@asynccontextmanager
async def driving(command: Sequence[str]) -> AsyncGenerator[Driver, None]:
    """A driver of its own, started at the root of the repository without settings of this machine's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=environment,
            cwd=ROOT,
            limit=_LONGEST_LINE,
        )
        driver = Driver(process, errors)
        try:
            yield driver
        finally:
            await driver.stop()
