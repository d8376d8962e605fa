"""A workflow of 1,000 steps, each of which appends 1 KB to a list of its state: bytes on disk, and the time of a step."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Annotated, Any, TypedDict

from bench.figures import Rounds
from clew_engine import END, Limits, StateView, Storage, Workflow, WorkflowApp, append

STEPS, STEP_BYTES = 1000, 1000


class State(TypedDict, total=False):
    """How far it is, how far it goes, and what it has said."""

    at: int
    until: int
    log: Annotated[list[str], append]


def growing(storage: Storage, spent: list[tuple[float, float]]) -> WorkflowApp:
    """One node that goes round; at each entry the wall and CPU clocks are noted, in seconds."""
    flow = Workflow("growing", state=State, limits=Limits(steps=None))
    text = "x" * STEP_BYTES

    async def grow(state: StateView) -> dict[str, Any]:
        spent.append((time.perf_counter(), time.process_time()))
        return {"at": state["at"] + 1, "log": [text]}

    flow.node(grow, name="grow")
    flow.start("grow")
    flow.branch("grow", lambda state: END if state["at"] >= state["until"] else "grow", ["grow"])
    return flow.compile(storage)


async def measure(folder: Path, *, rounds: int) -> Rounds:
    """Workflows of 100 and of 1,000 steps, each in a file of its own."""
    found = Rounds()
    for number in range(rounds):
        sizes: dict[int, int] = {}
        clocks: list[tuple[float, float]] = []
        for steps in (100, STEPS):
            database = folder / f"workflow-{number}-{steps}.db"
            clocks = await _run(database, steps)
            sizes[steps] = database.stat().st_size
        found.add("bytes on disk after 1,000 steps of a workflow", "bytes", sizes[STEPS])
        found.add("bytes per byte of new state, 1,000 steps", "ratio", sizes[STEPS] / (STEPS * STEP_BYTES))
        found.add("bytes(1,000) / bytes(100), steps", "ratio", sizes[STEPS] / sizes[100])
        early, late = _middle(clocks, 100), _middle(clocks, STEPS - 100)
        found.add("step 100 of a workflow, CPU", "ms", 1000 * early)
        found.add("step 900 of a workflow, CPU", "ms", 1000 * late)
        found.add("CPU of step 900 / step 100", "ratio", late / early)
    return found


async def _run(database: Path, steps: int) -> list[tuple[float, float]]:
    clocks: list[tuple[float, float]] = []
    async with Storage(f"sqlite://{database}") as storage:
        await growing(storage, clocks).thread("t").run({"at": 0, "until": steps})
    return clocks


def _middle(clocks: list[tuple[float, float]], step: int) -> float:
    """CPU seconds of a step: the median of the fifty on either side."""
    around = clocks[step - 50 : step + 51]
    return median(after[1] - before[1] for before, after in pairwise(around))
