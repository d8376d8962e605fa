"""Promise 8: every mutation is idempotent by its request id, when the connection is cut after the commit and before the reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import clew
from clew_engine import Agent, Storage, tool
from clew_engine.requests import RequestLog
from tests.faults import figures
from tests.faults.plans import PlanModel
from tests.faults.proxies import Proxy
from tests.scenarios.over_grpc import ClientThread
from tests.scenarios.sights import Turn
from tests.scenarios.world import TUNING
from tests.support.postgres import in_schema
from tests.support.serving import serving

WRITES = ("append", "change_info", "copy_thread", "delete_thread")
ran: list[str] = []


@tool
async def fetch() -> str:
    """Counts."""
    ran.append("fetch")
    return "found"


@tool(approve=True)
async def refund() -> str:
    """Counts, when a person lets it."""
    ran.append("refund")
    return "refunded"


@dataclass
class Line:
    """Two ways to one thread: through the proxy, and straight."""

    proxy: Proxy
    committed: asyncio.Event
    client: clew.Client
    straight: clew.Client

    def thread(self, thread_id: str, *, cut: bool) -> ClientThread:
        """A handle; its client does not repeat anything by itself."""
        nobody: Any = None
        client = self.client if cut else self.straight
        return ClientThread(nobody, client.app("plans").thread(thread_id))


@asynccontextmanager
async def line(storage: Storage) -> AsyncIterator[Line]:
    """A server, and a proxy in front of it; `committed` is set after every write to the storage."""
    committed = asyncio.Event()
    agent = Agent("plans", model=PlanModel(), tools=[fetch, refund], storage=storage)
    async with serving([agent], storage) as served, Proxy(served.target) as proxy:
        for name in WRITES:
            _tell(storage, name, committed)
        async with (
            clew.Client(proxy.target, connect_timeout=0.0, rejoin_timeout=0.0) as client,
            clew.Client(served.target) as straight,
        ):
            yield Line(proxy, committed, client, straight)


def _tell(storage: Storage, name: str, committed: asyncio.Event) -> None:
    write = getattr(storage.backend.threads, name)

    async def told(*args: Any, **options: Any) -> Any:
        written = await write(*args, **options)
        committed.set()
        return written

    setattr(storage.backend.threads, name, told)


Prepare = Callable[[ClientThread], Awaitable[Any]]
Act = Callable[[ClientThread, Any, str], Awaitable[Any]]


async def nothing(_thread: ClientThread) -> None:
    """A thread that is not there yet."""


async def completed(thread: ClientThread) -> str:
    """A turn, and the id of a checkpoint in its middle."""
    await thread.send("before|fetch")
    history = await thread.history()
    return str(history[len(history) // 2]["id"])


async def suspended(thread: ClientThread) -> str:
    """A turn that waits, and the approval that it waits for."""
    return (await thread.send("before|refund")).approvals[0]


async def rewound(thread: ClientThread) -> None:
    """A run that can be tried again, from before its call."""
    await thread.rewind(await completed(thread))


SAID = {"role": "user", "content": "said", "id": "mine"}
VERBS: dict[str, tuple[Prepare, Act]] = {
    "send": (nothing, lambda thread, _, request: thread.send("now|fetch", request_id=request)),
    "decide": (suspended, lambda thread, approval, request: thread.decide({approval: True}, request_id=request)),
    "retry": (rewound, lambda thread, _, request: thread.retry(request_id=request)),
    "rewind": (completed, lambda thread, target, request: thread.rewind(target, request_id=request)),
    "cancel": (suspended, lambda thread, _, request: thread.cancel(request_id=request)),
    "update": (completed, lambda thread, _, request: thread.update(name="named", request_id=request)),
    "copy": (completed, lambda thread, _, request: copied(thread, request)),
    "delete": (completed, lambda thread, _, request: thread.delete(request_id=request)),
    "update_state": (completed, lambda thread, _, request: thread.update_state({"a": 1}, request_id=request)),
    "clear_state": (completed, lambda thread, _, request: thread.clear_state(request_id=request)),
    "append_messages": (completed, lambda thread, _, request: thread.append_messages([SAID], request_id=request)),
    "update_message": (completed, lambda thread, _, request: thread.update_message("m1.0", "x", request_id=request)),
    "delete_message": (completed, lambda thread, _, request: thread.delete_message("m1.0", request_id=request)),
}


async def copied(thread: ClientThread, request: str) -> list[dict[str, Any]]:
    """Copy, and look at the copy."""
    return await (await thread.copy(f"{thread.id}-copy", request_id=request)).history()


async def cut_once(at: Line, verb: str, number: int) -> list[str]:
    """One mutation whose reply is lost, and the same again; what is wrong with it."""
    prepare, act = VERBS[verb]
    thread, request = at.thread(f"{verb}-{number}", cut=False), f"{verb}-request-{number}"
    given = await prepare(thread)
    distant = at.thread(thread.id, cut=True)
    await distant.history()  # the connection stands
    ran.clear()
    at.committed.clear()
    at.proxy.silent = True
    calling = asyncio.ensure_future(act(distant, given, request))
    async with asyncio.timeout(10):
        await at.committed.wait()
    await at.proxy.cut()
    first = await told(calling)
    second, third = await act(thread, given, request), await act(thread, given, request)
    wrong = []
    if plain(second) != plain(third):
        wrong.append(f"{verb}: the repeats were told {second} and {third}")
    if first is not None and plain(first) != plain(second):
        wrong.append(f"{verb}: the first was told {first}, the repeat {second}")
    effects = EFFECTS[verb]
    if len(ran) != effects[0]:
        wrong.append(f"{verb}: the tool ran {len(ran)} times")
    sources = [each["source"] for each in await thread.history()]
    if sources.count(effects[1]) != effects[2]:
        wrong.append(f"{verb}: the history has {sources}")
    return wrong


# How often a tool runs, and how many checkpoints of a kind the head's line has, when a verb has had its one effect.
EFFECTS = {
    "send": (1, "input", 1),
    "decide": (1, "decision", 1),
    "retry": (1, "retry", 1),
    "rewind": (0, "fork", 1),
    "cancel": (0, "failure", 1),
    "update": (0, "input", 1),
    "copy": (0, "input", 1),
    "delete": (0, "input", 0),
    "update_state": (0, "update", 1),
    "clear_state": (0, "update", 1),
    "append_messages": (0, "update", 1),
    "update_message": (0, "update", 1),
    "delete_message": (0, "update", 1),
}


async def told(call: asyncio.Future[Any]) -> Any:
    """What a call whose connection was cut was told in the end: a reply, if gRPC itself had tried again, or nothing."""
    try:
        return await call
    except clew.UnavailableError:
        return None


def plain(reply: Any) -> Any:
    """A reply in a form to compare: of a stream the events that are in the log."""
    if isinstance(reply, Turn):
        return reply.logged
    return reply


def url_of(backend: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """A database of one's own."""
    if backend == "sqlite":
        return f"sqlite://{folder / 'clew.db'}"
    return in_schema(request.getfixturevalue("postgres_dsn"))


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_a_mutation_whose_reply_was_cut_off_has_one_effect_and_the_same_reply_again(
    tmp_path: Path, request: pytest.FixtureRequest, backend: str
) -> None:
    cuts, wrong = figures.times(2 * len(VERBS), 500), list[str]()
    async with Storage(url_of(backend, tmp_path, request), tuning=TUNING) as storage, line(storage) as at:
        for number in range(cuts):
            wrong += await cut_once(at, list(VERBS)[number % len(VERBS)], number)
    what = f"reply cut off after the commit, over gRPC, {backend}"
    variant = f"no request record, {backend}"
    figures.record(figures.Figure(8, what, cuts, other=len(wrong), variants=(variant,)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
async def test_without_request_records_the_second_effect_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, backend: str
) -> None:
    monkeypatch.setattr(RequestLog, "record", lambda *_: None)
    async with Storage(url_of(backend, tmp_path, request), tuning=TUNING) as storage, line(storage) as at:
        assert any("the tool ran" in each for each in await cut_once(at, "send", 0))
    figures.catch(f"no request record, {backend}")
