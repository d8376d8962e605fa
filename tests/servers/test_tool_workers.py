"""Tools that workers run, with several servers on one Postgres: a worker at one server serves the runs of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from clew import Client, RunCompleted, ToolCallProgress, UnavailableError, Worker, current_call
from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import remote
from tests.support.postgres import a_name, in_schema
from tests.support.serving import Served, serving

LEASE_S = 0.6


def a_shop(*, once: bool = False) -> Agent:
    rules = [after("charge").say("It is {result}."), otherwise.call("charge", order="A-1")]
    return Agent("shop", model=OfflineModel(rules), tools=[remote("charge", once=once)])


class Charges:
    """A tool that waits until a test lets it end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.keys: list[str] = []

    async def charge(self, order: str) -> str:
        self.keys.append(current_call().idempotency_key)
        self.begun.set()
        await self.open.wait()
        return f"charged {order}"


@pytest.fixture
def schema() -> str:
    return a_name()


@pytest.fixture
def url(postgres_dsn: str, schema: str) -> str:
    return in_schema(postgres_dsn, schema)


@pytest.fixture
async def two(url: str) -> AsyncIterator[tuple[Served, Served]]:
    async with (
        serving([a_shop()], url, call_lease=LEASE_S) as one,
        serving([a_shop()], url, call_lease=LEASE_S) as other,
    ):
        yield one, other


@asynccontextmanager
async def working(served: Served, charges: Charges) -> AsyncGenerator[tuple[Worker, asyncio.Task[None]], None]:
    async with Client(served.target) as client:
        worker = client.worker()
        worker.tool(charges.charge)
        run = asyncio.create_task(worker.run())
        await worker.ready()
        try:
            yield worker, run
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)


async def test_a_worker_at_one_server_serves_the_runs_of_another(two: tuple[Served, Served]) -> None:
    here, there = two
    charges = Charges()
    charges.open.set()
    async with Client(here.target) as client, working(there, charges):
        assert [each.tools[0].name for each in await client.workers.list()] == ["charge"]
        assert (await client.app("shop").thread("t").send("go")).text == "It is charged A-1."


async def test_progress_comes_to_the_server_that_has_the_run(two: tuple[Served, Served]) -> None:
    here, there = two
    seen = asyncio.Event()

    async def charge(order: str) -> str:
        await current_call().report("half")
        await seen.wait()
        return order

    async with Client(here.target) as client, Client(there.target) as other:
        worker = other.worker()
        worker.tool(charge)
        run = asyncio.create_task(worker.run())
        told = []
        async for event in client.app("shop").thread("t").stream("go"):
            if isinstance(event.payload, ToolCallProgress):
                told.append(event.payload.progress)
                seen.set()
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    assert told == ["half"]


async def test_a_worker_that_is_asked_at_another_server_drains(two: tuple[Served, Served]) -> None:
    here, there = two
    charges = Charges()
    async with working(there, charges) as (worker, run), Client(here.target) as client:
        turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
        await charges.begun.wait()
        assert await here.storage.workers.drain("", worker.worker_id)
        charges.open.set()
        assert (await turn).text == "It is charged A-1."
        await run


@pytest.mark.parametrize("once", [False, True])
async def test_a_database_that_loses_what_need_not_last_loses_no_result(
    postgres_dsn: str, url: str, schema: str, *, once: bool
) -> None:
    charges = Charges()
    async with (
        serving([a_shop(once=once)], url, call_lease=LEASE_S) as here,
        serving([a_shop(once=once)], url, call_lease=LEASE_S) as there,
        Client(here.target) as client,
        working(there, charges),
    ):
        thread = client.app("shop").thread("t")
        turn = asyncio.create_task(thread.send("go"))
        await charges.begun.wait()
        await _empty(postgres_dsn, schema)
        if once:
            # Whether it had begun nobody can tell but its worker, whose answer it is.
            reply = await turn
            assert [asked.kind for asked in reply.approvals] == ["tool_outcome"]
            charges.open.set()
            async for event in thread.watch(reply.version, follow=True):
                if isinstance(event.payload, RunCompleted):
                    reply = event.payload.reply
                    break
        else:
            await asyncio.sleep(LEASE_S)
            charges.open.set()
            reply = await turn
        assert reply.text == "It is charged A-1."
    assert len(charges.keys) == 1


async def _empty(dsn: str, schema: str) -> None:
    """As a crash of the database leaves its unlogged tables."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f'TRUNCATE "{schema}".calls, "{schema}".workers')
    finally:
        await connection.close()


async def test_a_result_outlives_the_server_that_asked_for_it_and_is_taken_at_another(url: str) -> None:
    charges = Charges()
    async with serving([a_shop()], url, call_lease=LEASE_S) as there, working(there, charges):
        async with serving([a_shop()], url, call_lease=LEASE_S, grace=0.0) as here:
            # It is not closed before its server: that would cancel the run.
            client = Client(here.target, rejoin_timeout=0.1)
            turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
            await charges.begun.wait()
        with pytest.raises(UnavailableError):
            await turn
        await client.close()
        charges.open.set()
        async with Client(there.target) as other:
            assert (await other.app("shop").thread("t").retry()).text == "It is charged A-1."
    assert len(charges.keys) == 1
