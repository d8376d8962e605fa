"""Very many open watches on one server: what one of them costs in memory, and what they do to those who work meanwhile."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import grpc

from bench.figures import Rounds
from bench.over_grpc import Caller
from bench.samples import sample
from bench.server import Served, serving
from clew.v1 import run_service_pb2, run_service_pb2_grpc

_THREADS = 100
_CHANNELS = 10
_IDLE_S = 5.0
# Versions of a turn.
_A_TURN = 5
# Connections of their own: channels of one target would share one.
_OPTIONS = (("grpc.use_local_subchannel_pool", 1),)


class Watcher:
    """One open watch, read to its end. `last` is when its last message came, as `time.perf_counter` says it."""

    def __init__(self, runs: run_service_pb2_grpc.RunServiceStub, thread: str) -> None:
        request = run_service_pb2.WatchRequest(thread_id=thread, follow=True)
        self._stream = runs.Watch(request)
        self.version = 0
        self.last = 0.0
        self._came = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for response in self._stream:
            self.last = time.perf_counter()
            self.version = max((event.version for event in response.events), default=self.version)
            self._came.set()

    async def reach(self, version: int) -> None:
        """Wait until it has been told of a version."""
        while self.version < version:
            if self._task.done():
                await self._task
                raise RuntimeError(f"a watch ended at version {self.version}")
            self._came.clear()
            came = asyncio.ensure_future(self._came.wait())
            await asyncio.wait({came, self._task}, return_when=asyncio.FIRST_COMPLETED)
            came.cancel()

    async def close(self) -> None:
        """Leave the watch."""
        self._task.cancel()
        await asyncio.wait({self._task})


async def measure(folder: Path, *, watches: int, rounds: int) -> Rounds:
    """Open them all, then turns on a thread that many of them watch and on one that nobody does, in every round."""
    found = Rounds()
    with serving(folder, f"sqlite://{folder}/served.db") as server:
        async with AsyncExitStack() as stack:
            channels = [
                await stack.enter_async_context(grpc.aio.insecure_channel(server.target, _OPTIONS))
                for _ in range(_CHANNELS)
            ]
            caller = Caller(channels[0])
            await sample(caller.turn, "watched", _THREADS, 1)
            before = server.resident_mb
            watchers = [_watcher(channels, number) for number in range(watches)]
            for watcher in watchers:
                stack.push_async_callback(watcher.close)
                await watcher.reach(_A_TURN)
            where = f"{watches:,} open watches"
            found.add(f"memory of an open watch, {where}", "KB", 1000 * (server.resident_mb - before) / watches)
            await _idle(found, server, where)
            for number in range(rounds):
                await _turns(found, caller, watchers, number, where)
    return found


def _watcher(channels: list[grpc.aio.Channel], number: int) -> Watcher:
    runs = run_service_pb2_grpc.RunServiceStub(channels[number % _CHANNELS])
    return Watcher(runs, f"watched.{number % _THREADS}")


async def _idle(found: Rounds, server: Served, where: str) -> None:
    cpu = server.cpu_s
    await asyncio.sleep(_IDLE_S)
    found.add(f"CPU of a second in which nothing happens, {where}", "ms", 1000 * (server.cpu_s - cpu) / _IDLE_S)


async def _turns(found: Rounds, caller: Caller, watchers: list[Watcher], number: int, where: str) -> None:
    begin = time.perf_counter()
    await caller.turn(f"unwatched-{number}")
    found.add(f"a turn that nobody watches, {where}", "ms", 1000 * (time.perf_counter() - begin))
    watched = watchers[number % _THREADS :: _THREADS]
    due = watched[0].version + _A_TURN
    begin = time.perf_counter()
    await caller.turn(f"watched.{number % _THREADS}")
    await asyncio.gather(*(each.reach(due) for each in watched))
    last = max(each.last for each in watched)
    found.add(f"a turn until its last watcher has it, {len(watched)} of {where}", "ms", 1000 * (last - begin))
