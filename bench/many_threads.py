"""A database with very many threads: what listing, search and retention take, a turn, and opening it anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from bench.figures import Rounds
from bench.text import QUESTION
from bench.turn import bench_agent
from clew_engine import Storage
from clew_engine.retention import Retention

_TOGETHER = 200
_USERS = 100
# Every so many has messages: without them a thread has no status.
_WRITTEN = 4
_TICKS, _TICK_S = 100, 0.003


async def measure(folder: Path, *, threads: int, rounds: int) -> Rounds:
    """Fill the database once, then everything in every round."""
    found = Rounds()
    url = f"sqlite://{folder / 'many.db'}"
    async with Storage(url) as storage:
        begin = time.perf_counter()
        await _fill(storage, threads)
        found.add("threads made", "threads/s", threads / (time.perf_counter() - begin))
    for number in range(rounds):
        begin = time.perf_counter()
        async with Storage(url) as storage:
            await storage.threads.list()
            found.add(f"open, and list, {threads:,} threads", "ms", 1000 * (time.perf_counter() - begin))
            for name, work in _reads(storage, threads, number).items():
                found.add(f"{name}, {threads:,} threads", "ms", await _timed(work))
            lag = await _lag_beside(partial(storage.threads.list, 50, metadata={"number": threads // 2}))
            found.add(f"event loop's lag beside listing {threads:,} threads, p99", "ms", lag)
    return found


def _reads(storage: Storage, threads: int, number: int) -> dict[str, Callable[[], Awaitable[object]]]:
    listing = storage.threads.list
    return {
        "list the newest 50": partial(listing, 50),
        "list 50 of a user": partial(listing, 50, user_id=f"user-{number % _USERS}"),
        "list 50 of a status": partial(listing, 50, status="completed"),
        "list 50 of a status that none has": partial(listing, 50, status="suspended"),
        "list 50 by their last change": partial(listing, 50, order="update_time"),
        "list 50 by a part of their names": partial(listing, 50, query=f"number-{threads // 2:06}"),
        "list 50 by what no name has": partial(listing, 50, query="nowhere"),
        "list 50 by metadata that one has": partial(listing, 50, metadata={"number": threads // 2}),
        "count what a retention would take": partial(_retired, storage),
        "send a turn": partial(bench_agent(storage).thread(f"thread-number-{threads // 2:06}").send, QUESTION),
    }


async def _retired(storage: Storage) -> int:
    return sum([1 async for _ in storage.retire(Retention({"completed": 3600.0}), dry_run=True)])


async def _fill(storage: Storage, threads: int) -> None:
    agent, numbers = bench_agent(storage), iter(range(threads))

    async def some() -> None:
        for number in numbers:
            thread = agent.thread(f"thread-number-{number:06}")
            await thread.update(user_id=f"user-{number % _USERS}", metadata={"number": number}, allow_missing=True)
            if number % _WRITTEN == 0:
                await thread.append_messages([{"role": "user", "content": "hello"}])

    await asyncio.gather(*(some() for _ in range(_TOGETHER)))


async def _lag_beside(work: Callable[[], Awaitable[object]]) -> float:
    """How much later than asked the event loop comes back while something is done over and over, p99 in ms."""
    late: list[float] = []

    async def tick() -> None:
        for _ in range(_TICKS):
            due = time.perf_counter() + _TICK_S
            await asyncio.sleep(_TICK_S)
            late.append(1000 * (time.perf_counter() - due))

    ticking = asyncio.create_task(tick())
    while not ticking.done():
        await work()
    return sorted(late)[_TICKS * 99 // 100]


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    begin = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - begin)
