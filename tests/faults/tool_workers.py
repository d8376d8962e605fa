"""A server whose tools run in workers, as processes that are killed: what became of every call is in the workers' ledger and in the threads."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from clew import ClewError, Client, Thread
from tests.faults.ledger import Entry, Ledger
from tests.faults.oracle import Findings
from tests.faults.process import ROOT, RUNNING
from tests.golden.languages import Language

CLEW = Path(sys.executable).with_name("clew")
# Long enough for a worker to find a server that was started again: within half of it nobody else is given what it may have.
LEASE_S = 3.0
BY_HAND = "by hand"
# Whatever goes wrong, a thread is at its end by then.
_PATIENCE_S = 30.0


class Kill(Protocol):
    """Something that is done to a shop in the middle of turns, and what is to be said against it."""

    async def __call__(self, shop: Shop, number: int, dice: random.Random, /, *, threads: int) -> Findings:
        """Once."""
        ...


class Child:
    """A process under test; its errors are in a file of its name."""

    def __init__(self, folder: Path, name: str, command: Sequence[str], **environment: str) -> None:
        self._errors, self._command = folder / f"{name}.log", command
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
            **environment,
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it anew."""
        with self._errors.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                env=self._environment,
                cwd=ROOT,
            )
        RUNNING.add(self._process)

    async def end(self, number: signal.Signals = signal.SIGKILL) -> int:
        """Send it a signal, and wait until it is dead; what it ended with."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
        code = await self._process.wait()
        RUNNING.discard(self._process)
        return code


@dataclass
class Shop:
    """The server, its workers, and what they have done."""

    folder: Path
    language: Language
    broken: str = ""
    work_s: float = 0.05
    workers: list[Child] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.database = self.folder / "clew.db"
        self.ledger = Ledger(self.folder / "ledger")
        self.target = f"127.0.0.1:{_free_port()}"
        host, _, port = self.target.rpartition(":")
        serve = (str(CLEW), "serve", "tests.faults.remote_app:agent", "--storage", f"sqlite://{self.database}")
        settings = ("--host", host, "--port", port, "--log-level", "warning")
        told = {"CLEW_CALL_LEASE": str(LEASE_S), "CLEW_FAULTS_BROKEN": self.broken}
        self.server = Child(self.folder, "server", (*serve, *settings), **told)
        self.client = Client(self.target, rejoin_timeout=0.2)

    async def __aenter__(self) -> Self:
        await self.serve()
        for number in range(2):
            command = (*self.language.command, "worker", self.target, str(self.ledger.path))
            worker = Child(self.folder, f"worker-{number}", command, CLEW_FAULTS_WORK_S=str(self.work_s))
            self.workers.append(worker)
            await self.staff(worker)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        for worker in self.workers:
            await worker.end()
        await self.server.end()

    async def serve(self) -> None:
        """Start the server, and wait until it answers."""
        await self.server.start()
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                with suppress(ClewError):
                    await self.client.apps.list()
                    return

    async def staff(self, worker: Child) -> None:
        """Start a worker, and wait until the server knows it."""
        before = {each.worker_id for each in await self.client.workers.list()}
        await worker.start()
        async with asyncio.timeout(_PATIENCE_S):
            while not {each.worker_id for each in await self.client.workers.list()} - before:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)

    def thread(self, name: str) -> Thread:
        """A thread of the plans."""
        return self.client.app("plans").thread(name)

    async def begun(self, least: int) -> None:
        """Wait until so many calls in all have begun."""
        async with asyncio.timeout(_PATIENCE_S):
            while len(self.ledger.entries()) < least:  # noqa: ASYNC110 - the tools tell nobody
                await asyncio.sleep(0.005)


async def kill_a_worker(shop: Shop, number: int, dice: random.Random, *, threads: int) -> Findings:
    """Turns of several threads, and one worker that is killed in the middle: the other, or the next, finishes them."""
    ids = [f"worker-{number}-{each}" for each in range(threads)]
    before = len(shop.ledger.entries())
    turns = [asyncio.create_task(_finished(shop, each, by_hand=True)) for each in ids]
    await shop.begun(before + dice.randrange(1, 4 * threads))
    await asyncio.sleep(dice.uniform(0, shop.work_s))
    worker = dice.choice(shop.workers)
    await worker.end()
    await shop.staff(worker)
    found = _wedged(await asyncio.gather(*turns))
    found.add(await judge_calls(shop, ids, before, killed_a_worker=True))
    return found


async def kill_the_server(shop: Shop, number: int, dice: random.Random, *, threads: int) -> Findings:
    """Turns of several threads, and the server that is killed in the middle: what the workers had done is not done again."""
    ids = [f"server-{number}-{each}" for each in range(threads)]
    before = len(shop.ledger.entries())
    turns = [asyncio.create_task(_finished(shop, each, by_hand=False)) for each in ids]
    await shop.begun(before + dice.randrange(1, 4 * threads))
    await asyncio.sleep(dice.uniform(0, shop.work_s))
    await shop.server.end()
    await shop.serve()
    found = _wedged(await asyncio.gather(*turns))
    found.add(await judge_calls(shop, ids, before, killed_a_worker=False))
    return found


async def stop_a_worker(shop: Shop, number: int, dice: random.Random, *, threads: int) -> Findings:
    """Turns of several threads, and one worker that is asked to end in the middle: it finishes what it has, and nothing is done twice."""
    ids = [f"stop-{number}-{each}" for each in range(threads)]
    before = len(shop.ledger.entries())
    turns = [asyncio.create_task(_finished(shop, each, by_hand=False)) for each in ids]
    await shop.begun(before + dice.randrange(1, 4 * threads))
    worker = dice.choice(shop.workers)
    code = await worker.end(signal.SIGTERM)
    await shop.staff(worker)
    found = _wedged(await asyncio.gather(*turns))
    if code != 0:
        found.other.append(f"the worker ended with {code}")
    found.add(await judge_calls(shop, ids, before, killed_a_worker=False))
    return found


async def _finished(shop: Shop, name: str, *, by_hand: bool) -> str:
    """Bring a turn to its end, whatever dies; empty, or how it stands when patience is over.

    `by_hand`: people say what became of a call that nobody knows. Otherwise its worker is there, and says so itself.
    """
    thread, text, request = shop.thread(name), f"turn-{name}|fetch charge fetch|charge|fetch", f"send-{name}"
    last = "nothing was heard"
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                try:
                    last = await _advanced(shop, thread, text, request, by_hand=by_hand)
                except ClewError as error:
                    last = f"{error.code}: {error.message}"
                if last == "completed":
                    return ""
                await asyncio.sleep(0.02)
    except TimeoutError:
        return f"{name} is not at its end: {last}"


async def _advanced(shop: Shop, thread: Thread, text: str, request: str, *, by_hand: bool) -> str:
    """One step towards it: the status afterwards."""
    try:
        info = await thread.info()
    except ClewError as error:
        if error.code != "thread_not_found":
            raise
        return (await thread.send(text, request_id=request)).status
    if info.status == "suspended":
        begun = {entry.identity for entry in shop.ledger.entries()}
        # A call that no worker has begun, of which the server had only written down that it was about to, nobody else can tell of.
        approvals = [each for each in await thread.approvals() if by_hand or (each.run_id, each.subject) not in begun]
        if approvals:
            return (await thread.decide({each.id: {"result": BY_HAND} for each in approvals})).status
        return "suspended"
    if info.status in ("in_progress", "failed"):
        running = info.run is not None and info.run.state == "running"
        return "running" if running else (await thread.retry()).status
    return info.status


def _wedged(ends: Sequence[str]) -> Findings:
    return Findings(wedged=[end for end in ends if end])


async def judge_calls(shop: Shop, ids: Sequence[str], before: int, *, killed_a_worker: bool) -> Findings:
    """What the workers did since, against what the threads hold."""
    found, entries = Findings(), shop.ledger.entries()[before:]
    held = Counter[str]()
    for name in ids:
        messages = await shop.thread(name).messages()
        asked = [part["id"] for each in messages for part in each["content"] if part["type"] == "tool_call"]
        results = [part for each in messages for part in each["content"] if part["type"] == "tool_result"]
        if sorted(asked) != sorted(part["tool_call_id"] for part in results):
            found.other.append(f"{name}: the calls {asked} have the results {results}")
        held.update(part["content"][0]["text"] for part in results)
    done = {entry.token: entry for entry in entries if entry.phase == "done"}
    for token in held:
        if token not in done and token not in (BY_HAND, f'"{BY_HAND}"'):
            found.other.append(f"{token} is a result, and no worker gave it")
    started = Counter((entry.tool, entry.key) for entry in entries if entry.phase == "started")
    for (tool, key), times in started.items():
        if times > 1 and (tool == "charge" or not killed_a_worker):
            found.reruns.append(f"{tool} {key} was started {times} times")
    if not killed_a_worker:
        found.lost += [f"the result of {_named(done[token])} is in no thread" for token in done if held[token] != 1]
    return found


def _named(entry: Entry) -> str:
    return f"{entry.tool} {entry.key}"


def _free_port() -> int:
    """One that is free just now; the server takes the same one each time it is started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
