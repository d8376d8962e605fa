"""Promises 8 and 13: the connections between a server and its database are cut after a commit and before its answer; callers are told what became of their writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from clew_engine import Agent, Storage
from clew_storage.postgres import copies, deletions, group_commit, infos
from tests.faults import figures
from tests.faults.plans import PlanModel
from tests.faults.proxies import Proxy
from tests.faults.test_cut_replies import EFFECTS, VERBS, fetch, plain, ran, refund
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.world import TUNING, Handle
from tests.support.postgres import in_schema

# Where statements that write are sent from.
SENT = ((group_commit, "append_all"), (infos, "change_info"), (copies, "copy_thread"), (deletions, "delete_thread"))


class Wire:
    """The way to the database. When it is armed, the answer to the next statement that writes is swallowed, and every connection cut."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._armed = False
        self.cuts = 0

    def arm(self) -> None:
        """The next write is the one."""
        self._armed = True

    def around(self, send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """A statement that writes."""

        async def sent(*args: Any, **options: Any) -> Any:
            if not self._armed:
                return await send(*args, **options)
            self._armed, self._proxy.silent = False, True
            self._proxy.swallowed.clear()
            writing = asyncio.ensure_future(send(*args, **options))
            # An answer was on its way, so the statement was committed.
            await self._proxy.swallowed.wait()
            await self._proxy.cut()
            self.cuts += 1
            return await writing

        return sent


async def cut_once(thread: Handle, verb: str, request: str, wire: Wire) -> list[str]:
    """One mutation in the middle of which the database is lost, and the same again; what is wrong with it."""
    prepare, act = VERBS[verb]
    given = await prepare(thread)  # type: ignore[arg-type]
    ran.clear()
    wire.arm()
    first = await act(thread, given, request)  # type: ignore[arg-type]
    second = await act(thread, given, request)  # type: ignore[arg-type]
    wrong = []
    if plain(first) != plain(second):
        wrong.append(f"{verb}: the first was told {first}, the repeat {second}")
    runs, source, checkpoints = EFFECTS[verb]
    if len(ran) != runs:
        wrong.append(f"{verb}: the tool ran {len(ran)} times")
    sources = [each["source"] for each in await thread.history()]
    if sources.count(source) != checkpoints:
        wrong.append(f"{verb}: the history has {sources}")
    return wrong


async def cuts(dsn: str, monkeypatch: pytest.MonkeyPatch, count: int, verbs: list[str]) -> tuple[int, list[str]]:
    """Cuts one after the other; how many there were, and what was wrong."""
    parts = urlsplit(dsn)
    wrong: list[str] = []
    async with Proxy(f"{parts.hostname}:{parts.port}") as proxy:
        wire = Wire(proxy)
        for module, name in SENT:
            monkeypatch.setattr(module, name, wire.around(getattr(module, name)))
        through = parts._replace(netloc=f"{parts.username}@{proxy.target}").geturl()
        async with Storage(in_schema(through), tuning=TUNING) as storage:
            agent = Agent("plans", model=PlanModel(), tools=[fetch, refund], storage=storage)
            async with OverGrpc(storage, [agent]) as connect:
                for number in range(count):
                    verb = verbs[number % len(verbs)]
                    thread = connect(f"{verb}-{number}", app="plans")
                    wrong += await cut_once(thread, verb, f"request-{number}", wire)
    return wire.cuts, wrong


async def test_a_write_whose_answer_from_the_database_was_lost_has_one_effect_and_its_caller_is_told_of_it(
    postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, wrong = await cuts(postgres_dsn, monkeypatch, figures.times(len(VERBS), 500, least=len(VERBS)), list(VERBS))
    variant = "a lost answer is not looked for"
    what = "connections to the database cut after a commit, before its answer"
    figures.record(figures.Figure(13, what, made, other=len(wrong), variants=(variant,)))
    assert not wrong, "\n".join(wrong)


async def test_where_a_write_whose_answer_was_lost_is_not_looked_for_that_is_seen(
    postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr(group_commit, "find_written", nothing)
    try:
        _, wrong = await cuts(postgres_dsn, monkeypatch, 1, ["update_state"])
    except Exception:  # noqa: BLE001 - the caller is told that its write failed, which it did not
        wrong = ["refused"]
    assert wrong
    figures.catch("a lost answer is not looked for")
