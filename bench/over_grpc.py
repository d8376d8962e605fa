"""The turn through gRPC, with every event streamed to a client in another process than the server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from uuid import uuid4

import grpc

from bench.figures import Rounds
from bench.floor import Floor
from bench.server import Served, serving
from bench.text import QUESTION
from bench.turn import EVENTS
from clew.v1 import run_service_pb2, run_service_pb2_grpc


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

    async def ticks(self) -> list[float]:
        """How long each text delta of a slow model was under way, in ms."""
        found: list[float] = []
        async for response in self._runs.Send(_request(f"ticks-{time.monotonic_ns()}", "ticking")):
            now = time.monotonic_ns()
            found += [(now - int(event.text_delta.text)) / 1e6 for event in response.events if event.text_delta.text]
        return found


async def measure(folder: Path, *, rounds: int, alone: int, together: int, starts: int) -> Rounds:
    """Rates at 1 and 32 threads beside the floor, the first event, the way of a delta, start and memory."""
    found = Rounds()
    for number in range(starts):
        fresh = folder / f"start-{number}"
        await asyncio.to_thread(fresh.mkdir)
        with serving(fresh) as server:
            await asyncio.sleep(0.5)
            found.add("start to ready", "s", server.ready_s)
            found.add("resident memory, idle", "MB", server.resident_mb)
    with serving(folder) as server, Floor(folder / "floor.db") as floor:
        async with grpc.aio.insecure_channel(server.target) as channel:
            await _gather(Caller(channel), "warm", 4, 5)
            for number in range(rounds):
                for threads, turns in ((1, alone), (32, together)):
                    base = await _floor(floor, f"r{number}", threads, turns)
                    await _round(found, server, Caller(channel), f"r{number}", threads, turns, base)
                found.add("model to client, a text delta, p50", "ms", _median(await Caller(channel).ticks()))
    return found


async def _round(
    found: Rounds, server: Served, caller: Caller, name: str, threads: int, turns: int, base: float
) -> None:
    cpu, begin = server.cpu_s, time.perf_counter()
    await _gather(caller, name, threads, turns)
    wall, count = time.perf_counter() - begin, threads * turns
    where = f"{threads} thread{'s' if threads > 1 else ''}"
    found.add(f"over gRPC, {where}", "turns/s", count / wall)
    found.add(f"over gRPC against the floor, {where}", "ratio", count / wall / base)
    found.add(f"CPU a turn over gRPC, server, {where}", "ms", 1000 * (server.cpu_s - cpu) / count)
    found.add(f"first event over gRPC, p50, {where}", "ms", _median(caller.first_ms))
    found.add(f"events in a gRPC message, {where}", "events", caller.events / caller.messages)


async def _floor(floor: Floor, name: str, threads: int, turns: int) -> float:
    async def one(thread: str) -> None:
        for _ in range(turns):
            await floor.turn(thread)

    begin = time.perf_counter()
    await asyncio.gather(*(one(f"{name}-{threads}.{number}") for number in range(threads)))
    return threads * turns / (time.perf_counter() - begin)


async def _gather(caller: Caller, name: str, threads: int, turns: int) -> None:
    async def one(thread: str) -> None:
        for _ in range(turns):
            await caller.turn(thread)

    await asyncio.gather(*(one(f"{name}-{threads}.{number}") for number in range(threads)))


def _request(thread: str, app: str) -> run_service_pb2.SendRequest:
    # As the clients do, which make a request id for every call.
    return run_service_pb2.SendRequest(thread_id=thread, app=app, text=QUESTION, request_id=uuid4().hex)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
