"""Promises 13 and 14: when the primary dies its synchronous standby takes its place, the same servers find it within seconds, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import asyncpg
import pytest

from tests.faults import figures
from tests.faults.databases import campaign
from tests.faults.fleets import LEASES, times
from tests.faults.proxies import Proxy
from tests.support.postgres import KeptServer, set_option

CYCLES_A_PAIR = 5
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@dataclass
class Pair:
    """A primary and its standby, which is behind a wire that can fall silent. Their ports stay what they are, whoever is the primary."""

    primary: KeptServer
    standby: KeptServer
    wire: Proxy
    synchronous: bool

    @property
    def dsn(self) -> str:
        """Both, for a storage to find the one that takes writes."""
        return f"postgresql://clew@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}/postgres"

    async def fail_over(self, dice: random.Random) -> None:
        """The standby stops to hear the primary, which then dies; the standby is promoted, and answers."""
        self.wire.silent = True
        # Where nobody waits for the standby, long enough for something to be acknowledged on any machine.
        await asyncio.sleep(dice.uniform(0.1, 0.3) if self.synchronous else 2.0)
        await asyncio.to_thread(self.primary.tell, "kill")
        await self.wire.cut()
        await set_option(self.standby.dsn, "synchronous_standby_names", None)
        await asyncio.to_thread(self.standby.tell, "promote")

    async def replace_the_dead(self) -> None:
        """The one that died is made anew as the standby of the other, at its old port."""
        port = self.primary.port
        await asyncio.to_thread(self.primary.close)
        await self.wire.__aexit__()
        self.primary, (self.standby, self.wire) = self.standby, await standby_of(self.standby, f"port={port}")
        await self.follow()

    async def follow(self) -> None:
        """Until the standby hears all that the primary writes, and from then on is waited for, where it is to be."""
        if self.synchronous:
            await set_option(self.primary.dsn, "synchronous_standby_names", "'*'")
        wanted = "sync" if self.synchronous else "async"
        connection = await asyncpg.connect(self.primary.dsn)
        following = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = $1"
        async with asyncio.timeout(30):
            while not await connection.fetchval(following, wanted):
                pass
        await connection.close()

    async def close(self) -> None:
        """End both."""
        for server in (self.standby, self.primary):
            await asyncio.to_thread(server.close)
        await self.wire.__aexit__()


async def standby_of(primary: KeptServer, *options: str) -> tuple[KeptServer, Proxy]:
    """A new standby, and the wire by which it hears its primary."""
    wire = await Proxy(f"127.0.0.1:{primary.port}").__aenter__()
    port = wire.target.rpartition(":")[2]
    return await asyncio.to_thread(KeptServer, f"standby_of={port}", *options), wire


@asynccontextmanager
async def a_pair(*, synchronous: bool) -> AsyncIterator[Pair]:
    """Two servers of one's own."""
    primary = await asyncio.to_thread(KeptServer)
    pair = Pair(primary, *await standby_of(primary), synchronous)
    try:
        await pair.follow()
        yield pair
    finally:
        await pair.close()


@pytest.mark.parametrize("lease_s", LEASES)
async def test_a_synchronous_standby_takes_over_and_nothing_is_lost(tmp_path: Path, lease_s: float) -> None:
    cycles = times(lease_s, 1, 20)
    for number in range(0, cycles, CYCLES_A_PAIR):
        async with (
            a_pair(synchronous=True) as pair,
            campaign(tmp_path / f"{number}", pair.dsn, seed=number, lease_s=lease_s) as tried,
        ):
            for cycle in range(min(CYCLES_A_PAIR, cycles - number)):
                if cycle:
                    await pair.replace_the_dead()
                await tried.disturb("failover to a synchronous standby", partial(pair.fail_over, tried.dice))
            tried.record(14, "asynchronous standby")


async def test_a_standby_that_nobody_waits_for_is_seen_to_lose(tmp_path: Path) -> None:
    async with a_pair(synchronous=False) as pair, campaign(tmp_path, pair.dsn, seed=0, size=1) as tried:
        await tried.disturb("failover to an asynchronous standby", partial(pair.fail_over, tried.dice))
    assert tried.findings.lost, tried.findings
    figures.catch("asynchronous standby")
