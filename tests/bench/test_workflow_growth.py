"""A workflow of 1,000 steps that appends 1 KB to its state at each: bytes on disk and the work of a step, counted."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pytest

from bench.workflow_growth import STEP_BYTES, growing
from clew_engine import Storage
from clew_storage.sqlite.backend import SqliteBackend

# The steps that are looked at: not where many small changes are folded into a large one, which is paid for once in 64 steps.
EARLY, LATE = range(130, 180), range(900, 950)


class Clock(list[tuple[float, float]]):
    """Is told of each step's beginning."""

    def __init__(self, told: Callable[[int], None]) -> None:
        super().__init__()
        self._told = told

    def append(self, _: tuple[float, float], /) -> None:
        super().append(_)
        self._told(len(self) - 1)


@dataclass
class Counted:
    """By the step what it took."""

    calls: dict[int, int] = field(default_factory=dict)
    allocated: dict[int, int] = field(default_factory=dict)
    size: dict[int, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    found = Counted()
    folder = tmp_path_factory.mktemp("growth")
    for steps in (100, 1000):
        database = folder / f"{steps}.db"
        asyncio.run(_run(database, steps, found))
        found.size[steps] = database.stat().st_size
    connection = sqlite3.connect(folder / "1000.db")
    for table in ("checkpoints", "state_changes", "folds"):
        (found.rows[table],) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return found


async def _run(database: Path, steps: int, found: Counted) -> None:
    count = begin = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    def told(step: int) -> None:
        nonlocal count, begin
        if steps > 100:
            found.calls[step - 1], count = count, 0
            if tracemalloc.is_tracing():
                found.allocated[step - 1] = tracemalloc.get_traced_memory()[1] - begin
                tracemalloc.reset_peak()
                begin = tracemalloc.get_traced_memory()[0]
            if step in (EARLY.start, LATE.start):
                tracemalloc.start()
            elif step in (EARLY.stop, LATE.stop):
                tracemalloc.stop()

    backend = SqliteBackend(database, url=f"sqlite://{database}", synchronous="OFF")
    async with Storage(backend) as storage:
        thread = growing(storage, Clock(told)).thread("t")
        sys.setprofile(called)
        try:
            await thread.run({"at": 0, "until": steps})
        finally:
            sys.setprofile(None)


def test_bytes_on_disk_are_three_of_what_was_written_at_most_and_grow_with_it(counted: Counted) -> None:
    assert counted.size[1000] / (1000 * STEP_BYTES) <= 3
    assert counted.size[1000] / counted.size[100] <= 11


def test_a_step_is_a_checkpoint_and_a_change_and_the_state_is_read_from_few_rows(counted: Counted) -> None:
    assert counted.rows["checkpoints"] == 1001
    assert counted.rows["state_changes"] == 1001
    assert counted.rows["folds"] <= 32


def test_step_900_calls_as_many_functions_as_step_130(counted: Counted) -> None:
    early, late = (median(counted.calls[step] for step in steps) for steps in (EARLY, LATE))
    assert late / early <= 1.1


def test_step_900_copies_nothing_of_what_the_steps_before_it_said(counted: Counted) -> None:
    early, late = (
        median(counted.allocated[step] for step in steps if step in counted.allocated) for steps in (EARLY, LATE)
    )
    assert late <= early + 32_000, "a step copies a state of 900 KB"
