"""Promise 19: streams that are left in the middle leave nothing behind: no task, no file, no subscription, no memory that grows with their number."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

from clew_engine import tool
from clew_engine.hub import Hub
from tests.faults import figures
from tests.faults.plans import PlanModel
from tests.faults.worlds import sqlite_world
from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.world import Handle, InProcess, Surface, World

TOGETHER = 20


@tool
async def fetch() -> str:
    """Takes a few turns of the event loop."""
    for _ in range(5):
        await asyncio.sleep(0)
    return "found"


@dataclass(frozen=True)
class Held:
    """What a process holds on to, but for memory."""

    tasks: int
    files: int
    readers: int
    runs: int

    def is_more_than(self, other: Held) -> bool:
        """Whether it is in anything; less is what others left, and is let go meanwhile."""
        return any(mine > theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True))

    @classmethod
    def now(cls, world: World) -> Held:
        """Count, without what earlier tests left to the collector."""
        gc.collect()
        storage = world.storage
        return cls(
            tasks=len(asyncio.all_tasks()),
            files=len(list(Path("/proc/self/fd").iterdir())),
            readers=storage.hub.readers() + len(storage.hub.texts._texts),
            runs=len(storage.live) + len(storage.arrivals) + len(storage.interrupters),
        )


@contextmanager
def measured() -> Iterator[list[int]]:
    """By how many bytes memory grows in this block. Measuring doubles the time, and says little of a few streams: the full form does it."""
    grown = [0]
    if not figures.FULL:
        yield grown
        return
    tracemalloc.start()
    try:
        yield grown
        gc.collect()
        grown[0] = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


async def one_stream(thread: Handle, dice: random.Random) -> bool:
    """A turn that is read to its end, or one of three in ten that is left somewhere in it; whether it was left."""
    reader = thread.stream("turn|fetch fetch")
    if dice.random() >= 0.3:
        await reader.turn()
        return False
    await reader.until(dice.choice(("run_started", "checkpoint_written", "tool_call_started", "text_delta")))
    await reader.leave()
    return True


async def streams(world: World, rounds: int, dice: random.Random) -> int:
    """Rounds of streams side by side, on threads that are deleted after each; how many were left."""
    left = 0
    for _ in range(rounds):
        threads = [await world.thread(f"t-{number}") for number in range(TOGETHER)]
        left += sum(await asyncio.gather(*(one_stream(thread, dice) for thread in threads)))
        await asyncio.gather(*(thread.delete() for thread in threads))
    return left


async def growth(world: World, rounds: int, dice: random.Random) -> tuple[int, list[str]]:
    """How many of so many rounds of streams were left, and what the process holds on to after them that it did not before."""
    world.agent(model=PlanModel(), tools=[fetch])
    await streams(world, figures.times(2, 25), dice)
    held = Held.now(world)
    with measured() as grown:
        left = await streams(world, rounds, dice)
    now = Held.now(world)
    wrong = [f"{held} became {now}"] if now.is_more_than(held) else []
    # What grows with their number is told from what jitters: tables of hashes that are made anew at some size.
    if figures.FULL and grown[0] >= 300 * left + (64 << 10):
        wrong.append(f"memory grew by {grown[0]} bytes with {left} streams that were left")
    return left, wrong


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_streams_that_are_left_in_the_middle_leave_nothing(tmp_path: Path, surface: Surface) -> None:
    rounds, name = figures.times(8, 250), getattr(surface, "__name__", "")
    async with sqlite_world(tmp_path / "clew.db", surface) as world:
        left, wrong = await growth(world, rounds, random.Random(19))
    what, variants = f"streams, {left} left in the middle, {name}", (f"readers are kept, {name}",)
    figures.record(figures.Figure(19, what, rounds * TOGETHER, other=len(wrong), variants=variants))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("surface", [InProcess, OverGrpc])
async def test_readers_that_are_kept_when_their_streams_are_over_are_seen(
    tmp_path: Path, surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "unsubscribe", lambda *_: None)
    async with sqlite_world(tmp_path / "clew.db", surface) as world:
        _, wrong = await growth(world, 1, random.Random(19))
    assert any("readers=" in each for each in wrong), wrong
    figures.catch(f"readers are kept, {getattr(surface, '__name__', '')}")
