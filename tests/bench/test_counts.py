"""The goals that can be counted, so that they hold on every machine; `make bench` measures the timed ones."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any

import pytest

from bench.goals import GOALS, TURN_GOALS
from bench.peers.environments import PEERS
from bench.text import QUESTION, TEXT_BYTES
from bench.turn import bench_agent
from clew_engine import Storage
from clew_engine.threads import Thread
from clew_storage.records import ThreadKey
from clew_storage.sqlite import heads
from clew_storage.sqlite.backend import SqliteBackend

ROOT = Path(__file__).parents[2]
KEY = ThreadKey("", "growing")


class CountingCursor(sqlite3.Cursor):
    rows = 0

    def __next__(self) -> Any:
        row = super().__next__()
        CountingCursor.rows += 1
        return row

    def fetchone(self) -> Any:
        row = super().fetchone()
        CountingCursor.rows += row is not None
        return row

    def fetchall(self) -> list[Any]:
        found = super().fetchall()
        CountingCursor.rows += len(found)
        return found


class CountingConnection(sqlite3.Connection):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return self.cursor(CountingCursor).execute(sql, parameters)


@dataclass
class Grown:
    """What was counted on one thread when it had this many turns."""

    size: dict[int, int] = field(default_factory=dict)
    commits: dict[int, float] = field(default_factory=dict)
    calls: dict[int, int] = field(default_factory=dict)
    history: dict[int, tuple[int, int]] = field(default_factory=dict)
    state: dict[int, tuple[int, int]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """One thread, looked at after 100 and after 1,000 turns; every turn also changes the state."""
    found = Grown()
    database = tmp_path_factory.mktemp("bench") / "clew.db"
    for length in (100, 1000):
        asyncio.run(_grow(database, length, found))
        found.size[length] = database.stat().st_size
        found.history[length] = _read(database, lambda open_: heads.list_checkpoints(open_, KEY, None, 20))
        found.state[length] = _read(database, lambda open_: heads.get_state(open_, KEY, None))
    return found


async def _grow(database: Path, length: int, found: Grown) -> None:
    # What is counted does not depend on how durable a commit is.
    backend = SqliteBackend(database, url=f"sqlite://{database}", synchronous="OFF")
    async with Storage(backend) as storage:
        thread = bench_agent(storage).thread(KEY.thread_id)
        done = len(found.size) and 100
        for turn in range(done, length - 2):
            await thread.send(QUESTION, state={"turn": turn})
        before = _commits(backend)
        await thread.send(QUESTION, state={"turn": 0})
        found.commits[length] = _commits(backend) - before
        found.calls[length] = await _calls(thread)


def _commits(backend: SqliteBackend) -> int:
    writer: Any = backend._opened().writer
    return int(writer.commits)


async def _calls(thread: Thread) -> int:
    """How many functions a turn calls on the event loop."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        await thread.send(QUESTION, state={"turn": 0})
    finally:
        sys.setprofile(None)
    return count


def _read(database: Path, query: Callable[[sqlite3.Connection], object]) -> tuple[int, int]:
    """How many rows and how many steps of SQLite's machine a query takes."""
    connection = sqlite3.connect(database, factory=CountingConnection)
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    CountingCursor.rows = 0
    connection.set_progress_handler(step, 1)
    query(connection)
    connection.close()
    return CountingCursor.rows, steps


def test_a_turn_waits_for_the_disk_four_times_at_any_length(grown: Grown) -> None:
    assert grown.commits == {100: 4, 1000: 4}


def test_a_byte_of_new_text_takes_at_most_two_and_a_half_on_disk(grown: Grown) -> None:
    assert grown.size[1000] / (1000 * TEXT_BYTES) <= 2.5


def test_bytes_grow_with_the_text(grown: Grown) -> None:
    assert grown.size[1000] / grown.size[100] <= 11


def test_a_turn_calls_as_many_functions_after_a_thousand_turns_as_after_a_hundred(grown: Grown) -> None:
    assert grown.calls[1000] / grown.calls[100] <= 1.1


def test_history_reads_the_rows_that_it_lists(grown: Grown) -> None:
    rows, steps = grown.history[1000]
    assert rows <= 40
    assert steps <= 1.2 * grown.history[100][1]


def test_the_newest_state_is_read_from_few_rows(grown: Grown) -> None:
    rows, steps = grown.state[1000]
    assert rows <= 8 * log(1000, 8) + 1
    assert steps <= 2 * grown.state[100][1]


async def test_turns_of_32_threads_share_their_commits(tmp_path: Path) -> None:
    backend = SqliteBackend(tmp_path / "clew.db", url="sqlite://", synchronous="FULL")
    async with Storage(backend) as storage:
        agent = bench_agent(storage)

        async def one(number: int) -> None:
            for _ in range(4):
                await agent.thread(f"t{number}").send(QUESTION)

        before = _commits(backend)
        await asyncio.gather(*map(one, range(32)))
        assert (_commits(backend) - before) / (32 * 4) <= 0.6


def test_a_run_of_the_benchmark_writes_its_figures(tmp_path: Path) -> None:
    written = tmp_path / "bench.json"
    command = [sys.executable, "-m", "bench", "--tiny", "--only", "turns", "--only", "cli", "--json", str(written)]
    environment = os.environ | {"PEER_PYTHON": "no-python"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(written.read_text())
    names = [figure["name"] for figure in figures]
    assert len(names) == len(set(names))
    for figure in figures:
        assert list(figure) == ["name", "value", "unit", "goal", "met"]
        assert (figure["goal"] is None) == (figure["name"] not in GOALS)
        assert (figure["met"] is None) == (figure["goal"] is None or figure["value"] is None)
    without = {figure["name"] for figure in figures if figure["value"] is None}
    for peer in PEERS:
        oldest = ".".join(map(str, peer.python))
        assert f"not measured (no-python is not a Python {oldest}): {peer.name}" in without
    disk = "real disk"
    if shutil.which("cc") and sys.platform == "linux":
        disk = "1 ms disk"
        assert set(TURN_GOALS) <= set(names)
        assert f"over gRPC against LangGraph, Postgres, 32 threads, {disk}" in without
        by_name = {figure["name"]: figure for figure in figures}
        assert by_name[f"fsyncs a turn, in process, SQLite, 1 thread, {disk}"]["met"]
        assert by_name[f"fsyncs a turn, in process, SQLite, 32 threads, {disk}"]["met"]
        # Four waits of a millisecond each.
        assert by_name[f"floor, Postgres, 1 thread, {disk}"]["value"] < 250
    measured = set(names) - without
    for database in ("SQLite", "Postgres"):
        assert f"in process, {database}, 32 threads, {disk}" in measured
        assert f"over gRPC, {database}, 32 threads, {disk}" in measured
