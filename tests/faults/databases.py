"""Servers that stay up while their database goes away and comes back: how soon they serve again, and what they lost."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults import figures
from tests.faults.fleets import LEASE_S, SERVERS, Fleet, named
from tests.faults.journal import Journal
from tests.faults.oracle import Findings
from tests.faults.recovery import recover
from tests.faults.served_process import ServedProcess
from tests.faults.workload import Workload

THREADS = ("one", "two", "three")
# What promise 13 gives a server from the moment that its database answers.
SOON_S = 5.0
# So much has been acknowledged before anything happens.
_ENOUGH = 5
# After that nobody waits any longer.
GIVEN_UP_S = 4 * SOON_S


@dataclass
class Campaign:
    """Disturbs the database of a fleet under load, again and again, and judges each time.

    `took_s`: of each kind of disturbance, how long after each one the last of the servers served again. `met`: the codes of
    what callers were told in the last one.
    """

    fleet: Fleet
    dice: random.Random
    journal: Journal = field(default_factory=Journal)
    findings: Findings = field(default_factory=Findings)
    took_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    met: Counter[str] = field(default_factory=Counter)
    cycles: int = 0

    async def disturb(self, what: str, how: Callable[[], Awaitable[None]]) -> None:
        """One cycle; `how` returns when the database answers again."""
        self.cycles += 1
        self.met.clear()
        work = Workload(self.fleet.thread, self.journal, self.dice, dead=self._is_told, survives=True)
        working = asyncio.create_task(work.run(THREADS))
        while work.done < _ENOUGH and not working.done():  # noqa: ASYNC110 - nobody is told of what is done
            await asyncio.sleep(0.01)
        # From there on the moment depends on nothing that the servers do.
        await asyncio.wait({working}, timeout=self.dice.uniform(0.05, 0.4))
        try:
            await how()
        except BaseException:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            raise
        back = asyncio.get_running_loop().time()
        took = await asyncio.gather(
            *(self._serves(server, number, back) for number, server in enumerate(self.fleet.servers))
        )
        self.took_s[what].append(max(took))
        if self.findings.all:
            # Whatever is under way with such servers may never end.
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            return
        work.stop()
        await working
        self.findings.add(await recover(self.fleet, self.journal, self.dice))

    async def _serves(self, server: ServedProcess, number: int, since: float) -> float:
        """How long it took until this server has done a whole turn; nobody has started it anew."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(since + GIVEN_UP_S):
                for tries in itertools.count():
                    if await self._does(server, f"turn-{self.cycles}-{number}-{tries}"):
                        break
                    # As a client would, and not as fast as it can.
                    await asyncio.sleep(0.05)
        except TimeoutError:
            self.findings.wedged.append(f"a server does not serve {GIVEN_UP_S:g} s after its database")
            return GIVEN_UP_S
        took = loop.time() - since
        if took > SOON_S:
            self.findings.wedged.append(f"a server served {took:.1f} s after its database")
        return took

    async def _does(self, server: ServedProcess, name: str) -> bool:
        """Whether it has done a turn, on a thread of its own."""
        self.journal.sent[name] = name
        try:
            turn = await self.journal.follow(name, server.thread(name).stream(name)).turn()
        except Exception as error:
            if not self._is_told(error):
                raise
            return False
        return turn.status == "completed"

    def _is_told(self, error: Exception) -> bool:
        """Whether the error is what callers may be told while the database is away."""
        code = getattr(error, "code", "")
        self.met[code] += 1
        return code == "storage_full" or self.fleet.dead(error)

    def record(self, row: int, *variants: str) -> None:
        """Enter what was counted, a figure for each kind, with the broken variants that it must see; fails with what went wrong."""
        assert not self.findings.all, "\n".join(self.findings.all)
        for what, took in self.took_s.items():
            told = named(what, self.fleet.lease_s)
            figures.record(figures.Figure(row, told, len(took), worst_s=round(max(took), 2), variants=variants))


@asynccontextmanager
async def campaign(
    folder: Path,
    dsn: str,
    seed: int,
    *,
    size: int = SERVERS,
    lease_s: float = LEASE_S,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Campaign]:
    """A fleet on this database, for as long as the block."""
    dice = random.Random(seed)
    fleet = Fleet(folder, dsn, dice, size=size, lease_s=lease_s)
    try:
        await fleet.start(**(environment or {}))
        yield Campaign(fleet, dice)
    finally:
        await fleet.close()
