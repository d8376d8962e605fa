"""The turn on everything that is compared, one after the other in each round: the floor, Clew in process and over gRPC, and peers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import grpc

from bench.databases import NewDatabase, NoDatabaseError, databases
from bench.figures import Rounds
from bench.floor import Floor
from bench.goals import SQLITE
from bench.over_grpc import OverGrpc
from bench.peers.environments import PEERS
from bench.peers.processes import PeerFailedError, a_peer
from bench.postgres_floor import PostgresFloor
from bench.samples import Sample, Turn, sample
from bench.server import serving
from bench.text import QUESTION
from bench.turn import bench_agent
from clew_engine import Storage

THREADS = (1, 32)
FLOOR, IN_PROCESS, OVER_GRPC = "floor", "in process", "over gRPC"
# What Clew is held against.
OTHERS = {FLOOR: "the floor"} | {peer.name: peer.name for peer in PEERS}

# Takes a sample: a name for its threads, how many they are, and the turns on each.
Entrant = Callable[[str, int, int], Awaitable[Sample]]


async def measure(
    folder: Path,
    *,
    database: str,
    rounds: int,
    within_s: float,
    turns: Sequence[int],
    peer_turns: Sequence[int],
    pythons: Mapping[str, str],
) -> Rounds:
    """So many rounds, but for those that would end too late: `within_s` seconds are theirs.

    `turns` and `peer_turns` are those on each thread, where there is one and where there are 32. `pythons` has the peers that are there.
    """
    found = Rounds()
    async with AsyncExitStack() as stack:
        try:
            new = await stack.enter_async_context(databases(database, folder))
        except NoDatabaseError as error:
            found.note(f"not measured ({error}): turns on {database}")
            return found
        entrants: dict[str, Entrant] = {}
        floor = await stack.enter_async_context(open_floor(database, await new("floor")))
        entrants[FLOOR] = partial(sample, floor)
        ours = await stack.enter_async_context(in_process(await new("in_process")))
        entrants[IN_PROCESS] = partial(sample, ours)
        server = stack.enter_context(serving(folder, await new("served")))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.target))
        entrants[OVER_GRPC] = over_grpc = OverGrpc(server, channel)
        entrants |= await open_peers(found, stack, new, database, folder, pythons)
        await take(Rounds(), entrants, database, "warm", 2, dict.fromkeys(entrants, 2))
        begin = time.monotonic()
        for number in range(rounds):
            for threads, alone, beside in zip(THREADS, turns, peer_turns, strict=True):
                counts = {name: beside if name in pythons else alone for name in entrants}
                where = f"{database}, {threads} thread{'s' if threads > 1 else ''}"
                taken = await take(found, entrants, database, f"r{number}", threads, counts)
                add(found, where, taken, count_fsyncs=database == SQLITE)
                found.add(f"first event over gRPC, p50, {where}", "ms", over_grpc.first_ms)
                found.add(f"events in a gRPC message, {where}", "events", over_grpc.events_a_message)
            if (time.monotonic() - begin) * (number + 2) / (number + 1) > within_s:
                break
    return found


async def take(
    found: Rounds, entrants: dict[str, Entrant], database: str, name: str, threads: int, turns: Mapping[str, int]
) -> dict[str, Sample]:
    """A sample of each; a peer that fails is noted, and takes part no more."""
    taken: dict[str, Sample] = {}
    for entrant, one in list(entrants.items()):
        try:
            taken[entrant] = await one(f"{name}-{threads}", threads, turns[entrant])
        except PeerFailedError as error:
            found.note(f"not measured to the end ({error}): {entrant}, {database}")
            del entrants[entrant]
    return taken


def add(found: Rounds, where: str, taken: Mapping[str, Sample], *, count_fsyncs: bool) -> None:
    """What each took, and Clew against the others: where one is not there, its comparisons are there without a value."""
    for name, each in taken.items():
        found.add(f"{name}, {where}", "turns/s", each.rate)
        found.add(f"CPU a turn, {name}, {where}", "ms", each.cpu_ms)
        if count_fsyncs and each.fsyncs is not None:
            found.add(f"fsyncs a turn, {name}, {where}", "fsyncs", each.fsyncs)
    for ours in (IN_PROCESS, OVER_GRPC):
        for name, other in OTHERS.items():
            ratios = [taken[ours].rate / taken[name].rate] if name in taken else []
            found.add(f"{ours} against {other}, {where}", "ratio", *ratios)


@asynccontextmanager
async def open_floor(database: str, url: str) -> AsyncGenerator[Turn, None]:
    """Turns that are only what has to be written."""
    if database == SQLITE:
        with Floor(Path(url.removeprefix("sqlite://"))) as files:
            yield files.turn
    else:
        async with PostgresFloor(url) as rows:
            yield rows.turn


@asynccontextmanager
async def in_process(url: str) -> AsyncGenerator[Turn, None]:
    """Turns of an agent in this process."""
    async with Storage(url) as storage:
        agent = bench_agent(storage)

        async def turn(thread: str) -> object:
            return await agent.thread(thread).send(QUESTION)

        yield turn


async def open_peers(
    found: Rounds, stack: AsyncExitStack, new: NewDatabase, database: str, folder: Path, pythons: Mapping[str, str]
) -> dict[str, Entrant]:
    """Those that start; of the others it is noted why they do not."""
    started: dict[str, Entrant] = {}
    for peer in PEERS:
        if peer.name in pythons:
            place, log = await new(peer.program), folder / f"{peer.program}.log"
            try:
                process = await stack.enter_async_context(a_peer(peer.program, pythons[peer.name], place, log))
            except PeerFailedError as error:
                found.note(f"not measured ({error}): {peer.name}, {database}")
            else:
                started[peer.name] = process.round
    return started
