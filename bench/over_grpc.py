"""The turn through gRPC, with every event streamed to a client in another process than the server; and what a server alone takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from uuid import uuid4

import grpc

from bench.figures import Rounds
from bench.samples import Sample, sample
from bench.served import TICK_S
from bench.server import Served, serving
from bench.text import QUESTION
from bench.turn import EVENTS
from clew.v1 import run_service_pb2, run_service_pb2_grpc

_LARGE = 3 << 20


class Caller:
    """Sends turns and counts what comes back."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._runs = run_service_pb2_grpc.RunServiceStub(channel)
        self.events = 0
        self.messages = 0
        self.first_ms: list[float] = []

    async def turn(self, thread: str) -> None:
        """One turn to its end."""
        begin = time.perf_counter()
        first = True
        events = 0
        async for response in self._runs.Send(_request(thread, "bench")):
            if first:
                self.first_ms.append(1000 * (time.perf_counter() - begin))
                first = False
            self.messages += 1
            events += len(response.events)
        assert events == EVENTS, f"{events} events came, and a turn has {EVENTS}"
        self.events += events

    async def say(self, app: str, text: str) -> None:
        """One turn of another app, on a thread of its own."""
        async for _ in self._runs.Send(_request(f"beside-{uuid4().hex}", app, text)):
            pass

    async def lags(self) -> list[float]:
        """How much later than asked the server's event loop came back to a slow model each time, in ms."""
        stamps: list[int] = []
        async for response in self._runs.Send(_request(f"lags-{time.monotonic_ns()}", "ticking")):
            stamps += [int(event.text_delta.text) for event in response.events if event.text_delta.text]
        return [(later - earlier) / 1e6 - 1000 * TICK_S for earlier, later in pairwise(stamps)]

    async def ticks(self) -> list[float]:
        """How long each text delta of a slow model was under way, in ms."""
        found: list[float] = []
        async for response in self._runs.Send(_request(f"ticks-{time.monotonic_ns()}", "ticking")):
            now = time.monotonic_ns()
            found += [(now - int(event.text_delta.text)) / 1e6 for event in response.events if event.text_delta.text]
        return found


class OverGrpc:
    """Takes samples of a server, whose CPU time they have, and keeps what else is known of the last one."""

    def __init__(self, server: Served, channel: grpc.aio.Channel) -> None:
        self._server = server
        self._channel = channel
        self.first_ms = 0.0
        self.events_a_message = 0.0

    async def __call__(self, name: str, threads: int, turns: int) -> Sample:
        """So many turns on each of so many new threads."""
        caller = Caller(self._channel)
        cpu = self._server.cpu_s
        taken = await sample(caller.turn, name, threads, turns)
        self.first_ms = median(caller.first_ms)
        self.events_a_message = caller.events / caller.messages
        return Sample(taken.rate, 1000 * (self._server.cpu_s - cpu) / (threads * turns), None)


async def measure(folder: Path, *, rounds: int, starts: int, under_load: int) -> Rounds:
    """Start and memory of so many servers, then the way of a delta, and the event loop's lag beside `under_load` turns on each of 32 threads."""
    found = Rounds()
    for number in range(starts):
        fresh = folder / f"start-{number}"
        await asyncio.to_thread(fresh.mkdir)
        with serving(fresh, f"sqlite://{fresh}/served.db") as server:
            await asyncio.sleep(0.5)
            found.add("start to ready", "s", server.ready_s)
            found.add("resident memory, idle", "MB", server.resident_mb)
    with serving(folder, f"sqlite://{folder}/served.db") as server:
        async with grpc.aio.insecure_channel(server.target) as channel:
            caller = Caller(channel)
            await sample(caller.turn, "warm", 4, 5)
            for _ in range(rounds):
                found.add("model to client, a text delta, p50", "ms", median(await caller.ticks()))
            for number in range(rounds):
                load = asyncio.create_task(sample(caller.turn, f"load-{number}", 32, under_load))
                lags = sorted(await caller.lags())
                await load
                found.add("event loop's lag beside 32 threads, p99", "ms", lags[len(lags) * 99 // 100])
            found.add("memory of a thread at rest, one turn", "KB", await _at_rest(server, caller, under_load))
            large = "x" * _LARGE
            for _ in range(rounds):
                found.add(*await _lag_beside(caller, "tools that block", lambda: caller.say("blocking", QUESTION)))
                found.add(*await _lag_beside(caller, "messages of 3 MiB", lambda: caller.say("bench", large)))
    return found


async def _at_rest(server: Served, caller: Caller, times: int) -> float:
    """What the server keeps of a thread for its next turn, in KB: over `times` times 32 threads."""
    before = server.resident_mb
    for number in range(times):
        await sample(caller.turn, f"rest-{number}", 32, 1)
    return 1000 * (server.resident_mb - before) / (32 * times)


async def _lag_beside(caller: Caller, what: str, work: Callable[[], Awaitable[None]]) -> tuple[str, str, float]:
    """The lag while something is done over and over."""
    lags = asyncio.create_task(caller.lags())
    while not lags.done():
        await work()
    late = sorted(await lags)
    return f"event loop's lag beside {what}, p99", "ms", late[len(late) * 99 // 100]


def _request(thread: str, app: str, text: str = QUESTION) -> run_service_pb2.SendRequest:
    # As the clients do, which make a request id for every call.
    return run_service_pb2.SendRequest(thread_id=thread, app=app, text=text, request_id=uuid4().hex)
