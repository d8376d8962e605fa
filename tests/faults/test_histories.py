"""Promise 6: what many clients ask of threads of three servers, while those die, stand still and are cut off, one sequential thread could have done."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import defaultdict
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from tests.faults import figures
from tests.faults.fleets import LEASES, Fleet, named, times
from tests.faults.histories import History, Log, Version
from tests.faults.history_clients import HistoryClient, Known
from tests.faults.replays import judge_history
from tests.faults.served_process import ServedProcess
from tests.faults.stored import Stored, StoredThread
from tests.scenarios.handles import PlayedThread
from tests.scenarios.world import ERRORS

THREADS, CLIENTS = 6, 3


async def disturb(fleet: Fleet, dice: random.Random, over: asyncio.Event, done: defaultdict[str, int]) -> None:
    """Kill, stop and cut off servers, one thing after the other, until it is over."""
    while not over.is_set():
        await wait(over, dice.uniform(0.1, 0.6))
        what = dice.choice(("kill", "pause", "cut", "cut"))
        server = dice.choice(fleet.servers)
        if what == "kill":
            await fleet.kill(server)
            await fleet.start()
        elif what == "pause":
            fleet.pause(server)
            await asyncio.sleep(2 * fleet.lease_s)
            fleet.resume(server)
        else:
            await server.cut()
        done[what] += 1


async def wait(until: asyncio.Event, seconds: float) -> None:
    """For so long, or until something has happened."""
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        pass


async def played(
    fleet: Fleet, number: int, operations: int, dice: random.Random, done: defaultdict[str, int]
) -> dict[str, Known]:
    """Some threads, each asked by several clients at a time, with faults all the while; what was asked and told."""
    threads = {f"h{number}-{each}": Known() for each in range(THREADS)}
    numbers, over = itertools.count(number * 1_000_000), asyncio.Event()
    disturbing = asyncio.create_task(disturb(fleet, dice, over, done))

    async def play(thread_id: str, known: Known) -> None:
        client = HistoryClient(partial(reach, fleet, thread_id), known, numbers, dice)
        while sum(len(each.operations) for each in threads.values()) < operations:
            await client.ask()

    async with asyncio.TaskGroup() as group:
        for thread_id, known in threads.items():
            for _ in range(CLIENTS):
                group.create_task(play(thread_id, known))
    over.set()
    await disturbing
    for thread_id, known in threads.items():
        last = HistoryClient(partial(reach, fleet, thread_id), known, numbers, dice)
        for verb in ("get", "state", "transcript"):
            await last.ask(verb)
    await fleet.hang_up()
    return threads


def reach(servers: Fleet | ServedProcess, thread_id: str) -> PlayedThread:
    """A handle through one of them."""
    return cast("PlayedThread", servers.thread(thread_id))


def log_of(thread: StoredThread) -> Log:
    """The rows of a thread as the checker reads them."""
    marks: defaultdict[int, list[str]] = defaultdict(list)
    said: defaultdict[int, list[str]] = defaultdict(list)
    for message in thread.messages:
        if message.role in ("user", "assistant"):
            (marks if message.role == "user" else said)[message.version].append(message.text)
    for version, values in thread.changes.items():
        marks[version] += map(str, values.values())
    return Log(
        thread.uid,
        {
            row.version: Version(
                row.version,
                row.parent,
                row.source,
                row.status,
                row.run,
                tuple(marks[row.version]),
                tuple(said[row.version]),
                row.deleted,
            )
            for row in thread.rows.values()
        },
    )


def judge_all(threads: dict[str, Known], stored: Stored) -> list[str]:
    """What is wrong with any of the threads."""
    problems = list(stored.problems)
    for thread_id, known in threads.items():
        logs = {thread.uid: log_of(thread) for thread in stored.threads.values() if thread.thread_id == thread_id}
        problems += [f"{thread_id}: {each}" for each in judge_history(History(known.operations, logs))]
    return problems


@pytest.mark.parametrize("lease_s", LEASES)
async def test_the_history_of_every_thread_is_that_of_one_sequential_thread(
    tmp_path: Path, postgres_dsn: str, lease_s: float
) -> None:
    total = times(lease_s, 200, 100_000, once=1_000)
    dice, done = random.Random(6), defaultdict[str, int](int)
    asked = answered = rounds = 0
    async with Fleet(tmp_path / "fleet", postgres_dsn, dice, lease_s=lease_s, proxied=True) as fleet:
        while asked < total:
            threads = await played(fleet, rounds, min(1_000, total - asked), dice, done)
            problems = judge_all(threads, await fleet.stored())
            assert not problems, "\n".join(problems)
            operations = [each for known in threads.values() for each in known.operations]
            figures.progress("operations", asked + len(operations), total)
            asked, rounds = asked + len(operations), rounds + 1
            answered += sum(each.answered or bool(each.code) for each in operations)
            await asyncio.gather(*(forget(fleet, each) for each in threads))
    faults = ", ".join(f"{count} {what}s" for what, count in sorted(done.items()))
    what = f"operations on three servers ({answered} answered; {faults})"
    figures.record(figures.Figure(6, named(what, lease_s), asked, variants=("no fence, histories",)))


async def forget(fleet: Fleet, thread_id: str) -> None:
    """Its history was judged: the next rounds need not read it."""
    with suppress(*ERRORS):
        await fleet.thread(thread_id).delete()
