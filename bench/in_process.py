"""Turns in process against the floor, round by round: rates, CPU and fsyncs at 1 and at 32 threads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bench.disks import fsyncs
from bench.figures import Rounds
from bench.floor import Floor
from bench.text import QUESTION
from bench.turn import bench_agent
from clew_engine import Storage

Turn = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Sample:
    """One round of one thing."""

    rate: float
    cpu_ms: float
    fsyncs: float | None


async def measure(folder: Path, *, rounds: int, alone: int, together: int) -> Rounds:
    """`alone` turns on one thread and `together` turns on each of 32, in every round."""
    found = Rounds()
    with Floor(folder / "floor.db") as floor:
        async with Storage(f"sqlite://{folder / 'clew.db'}") as storage:
            agent = bench_agent(storage)

            async def send(thread: str) -> object:
                return await agent.thread(thread).send(QUESTION)

            await _round(floor.turn, "warm", 1, 3)
            await _round(send, "warm", 1, 3)
            for number in range(rounds):
                for threads, turns in ((1, alone), (32, together)):
                    base = await _round(floor.turn, f"r{number}-{threads}", threads, turns)
                    ours = await _round(send, f"r{number}-{threads}", threads, turns)
                    _add(found, f"{threads} thread{'s' if threads > 1 else ''}", base, ours)
    return found


def _add(found: Rounds, where: str, base: Sample, ours: Sample) -> None:
    found.add(f"floor, {where}", "turns/s", base.rate)
    found.add(f"in process, {where}", "turns/s", ours.rate)
    found.add(f"in process against the floor, {where}", "ratio", ours.rate / base.rate)
    found.add(f"CPU a turn, floor, {where}", "ms", base.cpu_ms)
    found.add(f"CPU a turn, in process, {where}", "ms", ours.cpu_ms)
    if ours.fsyncs is not None:
        found.add(f"fsyncs a turn, {where}", "fsyncs", ours.fsyncs)


async def _round(turn: Turn, name: str, threads: int, turns: int) -> Sample:
    async def one(thread: str) -> None:
        for _ in range(turns):
            await turn(thread)

    synced, cpu, begin = fsyncs(), time.process_time(), time.perf_counter()
    await asyncio.gather(*(one(f"{name}.{number}") for number in range(threads)))
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    after = fsyncs()
    count = threads * turns
    return Sample(
        rate=count / wall,
        cpu_ms=1000 * cpu / count,
        fsyncs=None if synced is None or after is None else (after - synced) / count,
    )
