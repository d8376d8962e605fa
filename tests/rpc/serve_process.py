"""`clew serve` as a process that a test talks to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from tests.support.serving import Stubs, kinds, stubs_on

CLEW = Path(sys.executable).with_name("clew")
AGENT = '''
import os
from pathlib import Path
from clew_engine import Agent, OfflineModel, tool
from clew_engine.models.offline_rules import after, otherwise

LEDGER = Path("ledger")

def note(line):
    with LEDGER.open("a") as file:
        file.write(line + "\\n")
        file.flush()
        os.fsync(file.fileno())

@tool
def charge() -> str:
    """Charge the card."""
    note("charged")
    return "charged"

@tool
async def wait() -> str:
    """Wait until a file is there."""
    import asyncio
    note("waiting")
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return "went"

shop = Agent("shop", model=OfflineModel([after("wait").say("Done."), after("charge").call("wait"), otherwise.call("charge")]), tools=[charge, wait])
'''


class Process:
    """A server's process, and stubs on it."""

    def __init__(self, process: asyncio.subprocess.Process, said: dict[str, Any], stubs: Stubs) -> None:
        self.process = process
        self.said = said
        self.stubs = stubs

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self) -> tuple[int, str]:
        """Its exit code, and what it said on stderr."""
        _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


async def clew(folder: Path, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    return await asyncio.create_subprocess_exec(
        CLEW,
        *arguments,
        cwd=folder,
        env=inherited | environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def serve(folder: Path, *flags: str, **environment: str) -> AsyncGenerator[Process, None]:
    """`clew serve shop.py` on a SQLite file, ready."""
    where = ("--port", "0", "--storage", "sqlite://clew.db", "--json")
    process = await clew(folder, "serve", "shop.py", *where, *flags, **environment)
    assert process.stdout is not None
    line = await process.stdout.readline()
    assert line, (await process.communicate())[1].decode()
    said = json.loads(line)
    try:
        async with grpc.aio.insecure_channel(said["address"]) as channel:
            yield Process(process, said, stubs_on(channel))
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def up_to(call: Any, kind: str, count: int) -> None:
    """Read until that many events of a kind have come."""
    seen = 0
    while seen < count:
        seen += kinds((await call.read()).events).count(kind)


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)
