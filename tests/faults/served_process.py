"""`clew serve` as a process under test, and the client that speaks to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import clew
from tests.faults import plans, stored
from tests.faults.process import ROOT, RUNNING, Gone
from tests.faults.proxies import Proxy
from tests.faults.stored import Stored
from tests.scenarios.over_grpc import ClientThread
from tests.scenarios.world import Handle

CLEW = Path(sys.executable).with_name("clew")


class ServedProcess:
    """One server, on a SQLite file of its own or on the storage that is named. The client is told not to wait for a server that is gone, so that a death is seen as one."""

    survives = False

    def __init__(self, folder: Path, storage: str = "", *, proxied: bool = False, **environment: str) -> None:
        folder.mkdir(exist_ok=True)
        self.database = folder / "clew.db"
        self.ledger_path = folder / "ledger"
        self._folder = folder
        self._storage = storage or f"sqlite://{self.database}"
        self._starts = 0
        self.name = "socket"
        self.serves = "tests.faults.served:agent"
        # Where it runs, and what it serves lies.
        self.root = ROOT
        self._environment = environment
        self._child: asyncio.subprocess.Process | None = None
        self._client: clew.Client | None = None
        self._proxied = proxied
        self._proxy: Proxy | None = None

    async def start(self, **environment: str) -> None:
        """Serve, and wait until it is said what is served. Raises Gone when it could not."""
        whole = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
            plans.LEDGER: str(self.ledger_path),
            **self._environment,
            **environment,
        }
        # A socket of its own each time: gRPC shares what it knows of a dead one between channels.
        self._starts += 1
        socket = self._folder / f"{self.name}-{self._starts}"
        with (self._folder / "errors").open("ab") as errors:
            self._child = await asyncio.create_subprocess_exec(
                *(str(CLEW), "serve", self.serves, "--json"),
                *("--storage", self._storage, "--socket", str(socket)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env=whole,
                cwd=self.root,
            )
        RUNNING.add(self._child)
        assert self._child.stdout is not None
        if not await self._child.stdout.readline():
            await self.ended()
            raise Gone((self._folder / "errors").read_text())
        target = f"unix:{socket}"
        if self._proxied:
            self._proxy = await Proxy(target).__aenter__()
            target = self._proxy.target
        self._client = clew.Client(target, connect_timeout=0.0, rejoin_timeout=0.0)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        assert self._child is not None
        with suppress(ProcessLookupError):
            self._child.send_signal(number)

    async def kill(self) -> None:
        """`kill -9`, and wait until it is dead."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def ended(self) -> None:
        """Wait until it is dead."""
        assert self._child is not None
        assert self._child.stdout is not None
        while await self._child.stdout.readline():
            pass
        await self._child.wait()
        RUNNING.discard(self._child)

    async def stored(self) -> Stored:
        """What its file holds while nobody serves it."""
        return stored.read(self.database)

    async def hang_up(self) -> None:
        """Let the client's connection go, when all its streams have ended."""
        if self._client is not None:
            await self._client.close()
            self._client = None
        if self._proxy is not None:
            await self._proxy.__aexit__()
            self._proxy = None

    async def cut(self) -> None:
        """Close every connection of clients, which are told nothing more on them; new ones are let through."""
        assert self._proxy is not None
        self._proxy.silent = True
        await self._proxy.cut()

    def dead(self, error: Exception) -> bool:
        """Whether the error is what the death of the server looks like."""
        return isinstance(error, clew.UnavailableError)

    def thread(self, thread_id: str) -> Handle:
        """A handle on a thread."""
        assert self._client is not None
        nobody: Any = None
        return ClientThread(nobody, self._client.app(plans.APP).thread(thread_id))
