"""Promise 11: whoever waits for a busy thread is served first come first served, or refused in time, and leaves no ticket."""

from __future__ import annotations

import random
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from clew_storage import Grant, ThreadKey
from clew_storage.local_leases import LocalLeases
from tests.faults import figures
from tests.faults.worlds import sqlite_world
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.scripts import Gate
from tests.scenarios.world import InProcess, Surface, refused

KEY = ThreadKey("", "t")


async def queue(database: Path, surface: Surface, waiters: int, leaving: Collection[int]) -> list[str]:
    """Waiters for a thread that is held, of whom some leave; what is wrong with how the others were served, and with what is left."""
    gate, wrong = Gate(), list[str]()
    async with sqlite_world(database, surface) as world:
        world.agent([gate, "done"])
        thread = await world.thread("t")
        first = thread.stream("first")
        await gate.wait()
        waiting = []
        for number in range(waiters):
            waiting.append((f"waiter-{number}", thread.stream(f"waiter-{number}")))
            await waiting[-1][1].until("run_queued")
            await world.waiters(number + 1)
        for number in leaving:
            await waiting[number][1].leave()
        gate.open()
        stayed = [each for number, each in enumerate(waiting) if number not in leaving]
        for text, reader in (("first", first), *stayed):
            if (await reader.turn()).status != "completed":
                wrong.append(f"{text} was not served")
        said = [each["content"][0]["text"] for each in await thread.messages() if each["role"] == "user"]
        if said != (served := ["first", *(text for text, _ in stayed)]):
            wrong.append(f"they came as {served}, and were served as {said}")
        leases = world.storage.backend.leases
        if (left := (leases.queued(KEY), leases.holder(KEY))) != (0, None):
            wrong.append(f"tickets and holder are left: {left}")
    return wrong


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_a_hundred_waiters_are_served_in_the_order_they_came(tmp_path: Path, surface: Surface) -> None:
    waiters, dice = figures.times(40, 100), random.Random(11)
    leaving = dice.sample(range(waiters), waiters * 3 // 10)
    wrong = await queue(tmp_path / "clew.db", surface, waiters, leaving)
    name = getattr(surface, "__name__", "")
    variants = (f"last come first served, {name}", f"a leaver keeps the place, {name}")
    what = f"waiters, {len(leaving)} of them leave, {name}"
    figures.record(figures.Figure(11, what, waiters, other=len(wrong), variants=variants))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_waiters_who_are_served_last_come_first_are_seen(
    tmp_path: Path, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_on = LocalLeases._pass_on

    def to_the_last(self: LocalLeases, grant: Grant) -> None:
        others = self._lanes[grant.key].others
        backwards = dict(reversed(others.items()))
        others.clear()
        others.update(backwards)
        pass_on(self, grant)

    monkeypatch.setattr(LocalLeases, "_pass_on", to_the_last)
    wrong = await queue(tmp_path / "clew.db", surface, 4, leaving=[1])
    assert any("were served as" in each for each in wrong), wrong
    figures.catch(f"last come first served, {getattr(surface, '__name__', '')}")


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_a_place_that_a_leaver_keeps_is_seen(
    tmp_path: Path, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalLeases, "_abandon", lambda *_: None)
    # The last: who came after would wait for as long as the test is let.
    wrong = await queue(tmp_path / "clew.db", surface, 4, leaving=[3])
    assert any("are left" in each for each in wrong), wrong
    figures.catch(f"a leaver keeps the place, {getattr(surface, '__name__', '')}")


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_a_waiter_is_refused_within_a_quarter_second_of_its_time(tmp_path: Path, surface: Surface) -> None:
    gate = Gate()
    async with sqlite_world(tmp_path / "clew.db", surface) as world:
        world.agent([gate, "done"])
        first = (await world.thread("t")).stream("first")
        await gate.wait()
        hurried = await world.thread("t", busy_timeout=0.3)
        took = []
        for _ in range(3):
            began = time.monotonic()
            with refused("thread_busy"):
                await hurried.send("too late")
            took.append(time.monotonic() - began)
        gate.open()
        await first.turn()
        assert world.storage.backend.leases.queued(KEY) == 0
    # The best of three: what else the machine does at the moment is not the server's.
    assert 0.3 <= min(took) < 0.55
