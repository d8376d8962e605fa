"""A sample: turns on some threads side by side, and what they took. Peers take theirs by the same code, in environments of their own."""

from __future__ import annotations

import asyncio
import ctypes
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Turn = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Turns a second; CPU time of the process and its fsyncs a turn (None where they are not counted)."""

    rate: float
    cpu_ms: float
    fsyncs: float | None


async def sample(turn: Turn, name: str, threads: int, turns: int) -> Sample:
    """So many turns on each of so many new threads."""

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


def fsyncs() -> int | None:
    """How often this process has synced so far; None without the shim."""
    try:
        return int(ctypes.CDLL(None).bench_fsyncs())
    except AttributeError:
        return None
