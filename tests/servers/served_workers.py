"""`clew serve --workers N` as processes under test."""

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

import clew
from tests.faults.plans import LEDGER
from tests.faults.process import ROOT

CLEW = Path(sys.executable).with_name("clew")
APPS = "tests.servers.worker_apps"


class Workers:
    """A supervisor that is ready, and its workers."""

    def __init__(self, process: asyncio.subprocess.Process, said: dict[str, Any], errors: Path) -> None:
        self.process = process
        self.said = said
        self._errors = errors

    @property
    def pids(self) -> list[int]:
        """The processes that serve now."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def logged(self) -> list[dict[str, Any]]:
        """What all of them have logged so far."""
        return [json.loads(line) for line in self._errors.read_text().splitlines()]

    async def serving(self, times: int) -> None:
        """Wait until workers have come to serve so many times, the first ones included."""
        async with asyncio.timeout(120):
            while [line["event"] for line in self.logged()].count("a worker serves") < times:  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.05)

    def client(self) -> clew.Client:
        """A client with a connection of its own, which waits for workers to come back."""
        return clew.Client(self.said["address"], connect_timeout=120.0, rejoin_timeout=120.0)

    async def pid_behind(self, client: clew.Client) -> int:
        """The worker that has this client's connection."""
        return int((await client.app("who").run("who?")).text)

    async def one_of_each(self) -> dict[int, clew.Client]:
        """A client of each worker, by its pid."""
        found: dict[int, clew.Client] = {}
        async with asyncio.timeout(120):
            while len(found) < len(self.pids):
                client = self.client()
                found.setdefault(await self.pid_behind(client), client)
                if client not in found.values():
                    await client.close()
        return found

    async def ended(self) -> int:
        """Wait for its end, and give its exit code."""
        async with asyncio.timeout(120):
            return await self.process.wait()


def command(*flags: str, apps: str = APPS) -> tuple[str, ...]:
    """How workers are started on any free port."""
    return (str(CLEW), "serve", apps, "--workers", "2", "--port", "0", "--json", *flags)


def surroundings(**environment: str) -> dict[str, str]:
    """With the tests in reach, and no settings of whoever runs them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    path = os.pathsep.join((str(ROOT), kept.get("PYTHONPATH", "")))
    return {**kept, "PYTHONPATH": path, **environment}


@asynccontextmanager
async def workers(
    folder: Path, storage: str, *flags: str, apps: str = APPS, **environment: str
) -> AsyncGenerator[Workers, None]:
    """Two workers on a database, ready. Whatever is left of them at the end is killed."""
    errors = folder / "errors"
    with errors.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *command("--storage", storage, *flags, apps=apps),
            cwd=folder,
            env=surroundings(**{LEDGER: str(folder / "ledger"), **environment}),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            # As a terminal has it: a group of its own, which Ctrl-C reaches as a whole.
            process_group=0,
        )
    assert process.stdout is not None
    line = await process.stdout.readline()
    assert line, errors.read_text()
    try:
        yield Workers(process, json.loads(line), errors)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
