"""One thread as it grows: bytes on disk, the time of a turn, and what reads cost after 1,000 turns."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from bench.figures import Rounds
from bench.text import QUESTION, TEXT_BYTES
from bench.turn import bench_agent
from clew_engine import Storage
from clew_engine.threads import Thread

LENGTHS = (10, 100, 1000)


async def measure(folder: Path, *, rounds: int) -> Rounds:
    """A thread that is measured at each length, then threads of every length in turns."""
    found = Rounds()
    sizes = await _sizes(folder / "size.db")
    for length, size in sizes.items():
        found.add(f"bytes on disk after {length:,} turns", "bytes", size)
        found.add(f"bytes per byte of new text, {length:,} turns", "ratio", size / (length * TEXT_BYTES))
    found.add("bytes(1,000) / bytes(100)", "ratio", sizes[1000] / sizes[100])
    await _times(folder / "time.db", found, rounds)
    return found


async def _sizes(database: Path) -> dict[int, int]:
    """The whole file with its log written back, which the last connection does when it closes."""
    sizes: dict[int, int] = {}
    done = 0
    for length in LENGTHS:
        async with Storage(f"sqlite://{database}") as storage:
            await _grow(bench_agent(storage).thread("growing"), length - done)
        done = length
        sizes[length] = _size(database)
    return sizes


def _size(database: Path) -> int:
    assert not database.with_name(f"{database.name}-wal").exists(), "the log was not written back"
    return database.stat().st_size


async def _times(database: Path, found: Rounds, rounds: int) -> None:
    async with Storage(f"sqlite://{database}") as storage:
        agent = bench_agent(storage)
        threads = {length: agent.thread(f"of-{length}") for length in LENGTHS}
        for length, thread in threads.items():
            await _grow(thread, length - 1)
        for _ in range(rounds):
            spent: dict[int, float] = {}
            for length, thread in threads.items():
                wall, spent[length] = await _timed(partial(thread.send, QUESTION))
                found.add(f"turn {length:,}, warm, wall", "ms", wall)
                found.add(f"turn {length:,}, warm, CPU", "ms", spent[length])
            found.add("CPU of turn 1,000 / turn 100, warm", "ratio", spent[1000] / spent[100])
        longest = threads[1000]
        await _reads(longest, found, rounds)
    # Opened anew, nothing is warm: the first turn loads the thread.
    async with Storage(f"sqlite://{database}") as storage:
        await storage.open()
        wall, cpu = await _timed(lambda: bench_agent(storage).thread("of-1000").send(QUESTION))
        found.add("turn 1,000, cold, wall", "ms", wall)
        found.add("turn 1,000, cold, CPU", "ms", cpu)


async def _reads(thread: Thread, found: Rounds, rounds: int) -> None:
    for _ in range(rounds):
        wall, _ = await _timed(thread.history)
        found.add("list 20 checkpoints at 1,000 turns", "ms", wall)
        wall, _ = await _timed(thread.state)
        found.add("newest state at 1,000 turns", "ms", wall)
    history = await thread.history(limit=None)
    targets = {at: history[len(history) * (1000 - at) // 1000]["id"] for at in (10, 500)}
    for number in range(rounds):
        wall, _ = await _timed(partial(thread.copy, f"copy-{number}"))
        found.add("copy a thread of 1,000 turns", "ms", wall)
        for at, target in targets.items():
            wall, _ = await _timed(partial(thread.copy, f"copy-{at}-{number}", checkpoint_id=target))
            found.add(f"copy a thread of 1,000 turns, up to turn {at}", "ms", wall)
        wall, _ = await _timed(partial(thread.messages, search="every language nowhere"))
        found.add("search 1,000 turns for what is not there", "ms", wall)
        wall, _ = await _timed(partial(thread.messages, search="rewound", limit=50))
        found.add("first 50 hits of a search", "ms", wall)


async def _grow(thread: Thread, turns: int) -> None:
    for _ in range(turns):
        await thread.send(QUESTION)


async def _timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Wall and CPU time in ms."""
    cpu, begin = time.process_time(), time.perf_counter()
    await work()
    wall = time.perf_counter() - begin
    return 1000 * wall, 1000 * (time.process_time() - cpu)
