"""The Python worker against a real server: what its tools give, and that nothing they gave is lost or done twice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clew import (
    ArgumentInvalidError,
    ClewError,
    Client,
    LeaseLostError,
    RunCompleted,
    RunFailedError,
    ThreadInterruptedError,
    ToolCallProgress,
    ToolContent,
    ToolError,
    UnavailableError,
    Worker,
    current_call,
)
from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import remote
from tests.support.serving import Served, serving

LEASE_S = 0.5


def a_shop(**settings: Any) -> Agent:
    return Agent(
        "shop",
        model=OfflineModel([after("charge").say("It is {result}."), otherwise.call("charge", order="A-1", amount=40)]),
        tools=[remote("charge", **settings)],
    )


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serving([a_shop()], call_lease=LEASE_S) as running:
        yield running


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with Client(served.target) as opened:
        yield opened


@asynccontextmanager
async def working(client: Client, function: Callable[..., Any], **settings: Any) -> AsyncGenerator[Worker, None]:
    """A worker with one tool, ready."""
    worker = client.worker()
    worker.tool(function, name="charge", **settings)
    run = asyncio.create_task(worker.run())
    await worker.ready()
    try:
        yield worker
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)


class Charges:
    """A tool that waits until a test lets it end."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.keys: list[str] = []

    async def charge(self, order: str, amount: int) -> str:
        self.keys.append(current_call().idempotency_key)
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return f"{amount} for {order}"


def plain(order: str, amount: int) -> str:
    return f"{amount} for {order}"


async def structured(order: str, amount: int) -> dict[str, Any]:
    return {"order": order, "amount": amount, "large": 2**53 + 1}


async def parts(order: str, amount: int) -> ToolContent:
    return ToolContent([{"type": "text", "text": f"{order}: "}, {"type": "text", "text": str(amount)}])


async def nothing(order: str, amount: int) -> None:
    return None


async def not_json(order: str, amount: int) -> Any:
    return {1: object()}


async def raising(order: str, amount: int) -> str:
    raise KeyError(order)


async def refusing(order: str, amount: int) -> str:
    raise ToolError("no money")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (plain, "It is 40 for A-1."),
        (structured, 'It is {"order": "A-1", "amount": 40, "large": 9007199254740993}.'),
        (parts, "It is A-1: 40."),
        (nothing, "It is null."),
        (raising, "It is KeyError: 'A-1'."),
        (refusing, "It is no money."),
    ],
)
async def test_what_a_tool_gives_is_what_the_model_reads(client: Client, function: Any, said: str) -> None:
    async with working(client, function):
        reply = await client.app("shop").thread("t").send("go")
    assert reply.text.replace("\n", "") == said


async def test_what_is_no_json_is_a_failed_call(client: Client) -> None:
    async with working(client, not_json):
        reply = await client.app("shop").thread("t").send("go")
    assert reply.text.startswith("It is result: ")


async def test_the_schema_is_read_off_the_signature_and_heeded(served: Served, client: Client) -> None:
    async def charge(order: int, amount: int = 3) -> str:
        """Charge a card."""
        raise AssertionError

    async with working(client, charge):
        reply = await client.app("shop").thread("t").send("go")
        (worker,) = await served.storage.backend.exchange.list_workers("", tools=(), after=None, limit=1, now_ms=0)
    assert reply.text == 'It is invalid arguments for charge: order: "A-1" is not of type "integer".'
    assert b"Charge a card." in worker.body


async def test_without_pydantic_the_schema_is_asked_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ArgumentInvalidError, match=r"clew\[worker\]"):
        client.worker().tool(plain)
    client.worker().tool(plain, parameters={"type": "object"})


@pytest.mark.parametrize(
    ("function", "settings", "field"),
    [
        (lambda order, /: order, {"name": "a"}, "parameters"),
        (plain, {"timeout": 0}, "timeout"),
        (plain, {"parameters": {"type": object()}}, "parameters"),
        (3, {}, "tool"),
        (plain, {"onec": True}, "onec"),
    ],
)
async def test_what_is_no_tool_is_refused_by_its_field(
    client: Client, function: Any, settings: Any, field: str
) -> None:
    with pytest.raises(ClewError) as refused:
        client.worker().tool(function, **settings)
    assert refused.value.metadata["field"] == field


async def test_two_tools_of_one_name_are_refused(client: Client) -> None:
    worker = client.worker()
    worker.tool(plain)
    with pytest.raises(ArgumentInvalidError, match="already has a tool"):
        worker.tool(plain)


async def test_what_no_later_try_mends_ends_the_worker(client: Client) -> None:
    worker = client.worker()
    worker.tool(plain, name="no name")
    with pytest.raises(ArgumentInvalidError, match="letters"):
        await worker.run()
    one, other = client.worker("same"), client.worker("same")
    for each in (one, other):
        each.tool(plain)
    first = asyncio.create_task(one.run())
    await one.ready()
    second = asyncio.create_task(other.run())
    with pytest.raises(LeaseLostError):
        await first
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)


async def test_an_error_that_is_retryable_is_tried_again(client: Client) -> None:
    tries: list[int] = []

    async def charge(order: str, amount: int) -> str:
        tries.append(current_call().delivery)
        if len(tries) < 3:
            raise ToolError("busy", retryable=True, retry_after=0.001)
        return "charged"

    async with working(client, charge, max_tries=5):
        assert (await client.app("shop").thread("t").send("go")).text == "It is charged."
    assert tries == [1, 2, 3]


async def test_a_long_call_keeps_its_lease(client: Client) -> None:
    charges = Charges()
    async with working(client, charges.charge), working(client, charges.charge):
        turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
        await charges.begun.wait()
        await asyncio.sleep(3 * LEASE_S)
        charges.open.set()
        assert (await turn).text == "It is 40 for A-1."
    assert len(charges.keys) == 1


async def test_a_cancelled_run_cancels_its_tool(client: Client) -> None:
    charges = Charges()
    thread = client.app("shop").thread("t")
    async with working(client, charges.charge):
        turn = asyncio.create_task(thread.send("go"))
        await charges.begun.wait()
        await thread.cancel()
        await charges.cancelled.wait()
    await asyncio.gather(turn, return_exceptions=True)


async def test_a_call_of_a_worker_that_is_gone_is_made_by_another(client: Client) -> None:
    lost, charges = Charges(), Charges()
    charges.open.set()
    async with working(client, lost.charge):
        turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
        await lost.begun.wait()
    async with working(client, charges.charge):
        assert (await turn).text == "It is 40 for A-1."
    assert lost.keys == charges.keys


async def test_progress_is_told_to_who_watches(client: Client) -> None:
    async def charge(order: str, amount: int) -> str:
        await current_call().report({"half": True})
        await seen.wait()
        return "charged"

    seen = asyncio.Event()
    told = []
    async with working(client, charge):
        async for event in client.app("shop").thread("t").stream("go"):
            if isinstance(event.payload, ToolCallProgress):
                told.append((event.payload.name, event.payload.progress))
                seen.set()
    assert told == [("charge", {"half": True})]


async def test_a_draining_worker_ends_when_its_calls_are_done(client: Client) -> None:
    charges = Charges()
    worker = client.worker()
    worker.tool(charges.charge)
    run = asyncio.create_task(worker.run())
    await worker.ready()
    turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
    await charges.begun.wait()
    drain = asyncio.create_task(worker.drain())
    await asyncio.sleep(0.05)
    assert not run.done()
    charges.open.set()
    await asyncio.gather(drain, run)
    assert (await turn).text == "It is 40 for A-1."


async def test_what_is_not_done_in_time_is_left_when_a_worker_drains(client: Client) -> None:
    charges = Charges()
    worker = client.worker()
    worker.tool(charges.charge)
    run = asyncio.create_task(worker.run())
    await worker.ready()
    turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
    await charges.begun.wait()
    await worker.drain(within=0.05)
    await asyncio.gather(run, return_exceptions=True)
    await charges.cancelled.wait()
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)


@pytest.mark.parametrize("once", [False, True])
async def test_a_result_outlives_the_server_that_asked_for_it(tmp_path: Path, *, once: bool) -> None:
    url, charges = f"sqlite://{tmp_path}/clew.db", Charges()
    async with serving([a_shop(once=once)], url, call_lease=LEASE_S, grace=0.0) as first:
        port = first.server.port
        client = Client(first.target, rejoin_timeout=0.1)
        worker = client.worker()
        worker.tool(charges.charge)
        run = asyncio.create_task(worker.run())
        await worker.ready()
        turn = asyncio.create_task(client.app("shop").thread("t").send("go"))
        await charges.begun.wait()
    with pytest.raises(UnavailableError):
        await turn
    charges.open.set()
    async with serving([a_shop(once=once)], url, call_lease=LEASE_S, port=port), Client(f"127.0.0.1:{port}") as other:
        thread = other.app("shop").thread("t")
        with pytest.raises(ThreadInterruptedError):
            await thread.send("more")
        reply = await thread.retry()
        if once:
            # People were asked before the worker was back, whose answer is theirs.
            assert [asked.kind for asked in reply.approvals] == ["tool_outcome"]
            async for event in thread.watch(reply.version, follow=True):
                if isinstance(event.payload, RunCompleted):
                    reply = event.payload.reply
                    break
        assert reply.text == "It is 40 for A-1."
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
        await client.close()
    assert len(charges.keys) == 1


async def test_a_run_that_no_worker_serves_fails_and_can_be_retried() -> None:
    async with serving([a_shop(wait=0.05)]) as served, Client(served.target) as client:
        thread = client.app("shop").thread("t")
        with pytest.raises(RunFailedError, match="no worker") as failed:
            await thread.send("go")
        assert failed.value.retryable
        async with working(client, plain):
            assert (await thread.retry()).text == "It is 40 for A-1."
