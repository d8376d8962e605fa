"""Several servers on one Postgres database, of which any may be killed or paused while clients go on with the others."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import clew
from tests.faults import figures, plans
from tests.faults.gates import FileGate
from tests.faults.postgres_schema import PostgresSchema
from tests.faults.served_process import ServedProcess
from tests.faults.stored import Stored
from tests.scenarios.world import Handle
from tests.support.postgres import a_name, in_schema

SERVERS = 3
# As short as servers on a busy machine can hold on to: it is renewed every third of it.
LEASE_S = 1.5
# The full form also does everything once with the lease that servers have when nobody says another.
LEASES = (LEASE_S, 15.0) if figures.FULL else (LEASE_S,)
_LOST = frozenset({"lease_lost", "storage_unavailable"})


class Fleet:
    """Servers that write into one ledger. A thread's handle leads to any of those that are up."""

    survives = True

    def __init__(
        self,
        folder: Path,
        dsn: str,
        dice: random.Random,
        *,
        size: int = SERVERS,
        lease_s: float = LEASE_S,
        proxied: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.ledger_path = folder / "ledger"
        self.size = size
        self.lease_s = lease_s
        self.schema = PostgresSchema(dsn, a_name("fleet_"))
        self.url = in_schema(dsn, self.schema.name, lease_s=lease_s, poll_s=0.1)
        self.servers: list[ServedProcess] = []
        self._dice = dice
        self._proxied = proxied
        self._gate = folder / "gate"
        self._environment = {plans.GATE: str(self._gate), **(environment or {})}
        self._numbers = itertools.count()
        self._gone: list[ServedProcess] = []
        self._paused: list[ServedProcess] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self, **environment: str) -> None:
        """Start as many servers as are missing."""
        fresh = [self._server(**environment) for _ in range(self.size - len(self.servers))]
        if not self.servers and not self._gone:
            # The first makes the schema; the others would wait for it.
            await fresh[0].start()
            await asyncio.gather(*(server.start() for server in fresh[1:]))
        else:
            await asyncio.gather(*(server.start() for server in fresh))
        self.servers += fresh

    async def kill(self, server: ServedProcess | None = None) -> ServedProcess:
        """`kill -9` of this one, or of any; whatever is asked from now on is asked of the others."""
        victim = server or self._dice.choice(self.servers)
        self.servers.remove(victim)
        self._gone.append(victim)
        await victim.kill()
        return victim

    def pause(self, server: ServedProcess) -> None:
        """Stop it as SIGSTOP does; meanwhile the others are asked."""
        self.servers.remove(server)
        self._paused.append(server)
        server.signal(signal.SIGSTOP)

    def resume(self, server: ServedProcess) -> None:
        """Let it go on, as if nothing had been."""
        server.signal(signal.SIGCONT)
        self._paused.remove(server)
        self.servers.append(server)

    async def hang_up(self) -> None:
        """Let the connections to those go that are gone."""
        gone, self._gone = self._gone, []
        for server in gone:
            await server.hang_up()

    async def close(self) -> None:
        """End all servers."""
        for server in tuple(self._paused):
            self.resume(server)
        while self.servers:
            await self.kill()
        await self.hang_up()

    def dead(self, error: Exception) -> bool:
        """Whether the error is what the death or the pause of a server looks like."""
        return isinstance(error, clew.UnavailableError) or getattr(error, "code", "") in _LOST

    async def stored(self) -> Stored:
        """What the database holds."""
        return await self.schema.read()

    def gate(self) -> FileGate:
        """A gate that is closed, in the place of the one before, at which tools of all servers wait."""
        return FileGate(self._gate)

    def thread(self, thread_id: str) -> Handle:
        """A handle on a thread through any server that is up."""
        return self._dice.choice(self.servers).thread(thread_id)

    def _server(self, **environment: str) -> ServedProcess:
        server = ServedProcess(self.folder, self.url, proxied=self._proxied, **self._environment, **environment)
        server.name = f"s{next(self._numbers)}"
        return server


def times(lease_s: float, short: int, full: int, once: int = 1) -> int:
    """How often, by the form and the lease: `once` with the longer one."""
    return figures.times(short, full) if lease_s == LEASE_S else once


def named(what: str, lease_s: float) -> str:
    """What a figure is about, with the lease where it is not the usual one."""
    return what if lease_s == LEASE_S else f"{what}, lease {lease_s:g} s"
