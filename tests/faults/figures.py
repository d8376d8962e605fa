"""How much of each fault test is run, and the figures that it leaves."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

FULL = os.environ.get("CLEW_FAULTS") == "full"
REPORT = Path(__file__).parents[2] / "build" / "faults.json"


@dataclass(frozen=True)
class Figure:
    """One line of the table: how often something was tried, and how often each thing went wrong in it."""

    row: int
    what: str
    tried: int
    lost: int = 0
    reruns: int = 0
    wedged: int = 0
    other: int = 0
    worst_s: float | None = None


_figures: list[Figure] = []


def times(short: int, full: int) -> int:
    """How often, by the form."""
    return full if FULL else short


def record(figure: Figure) -> None:
    """Keep a figure for the table."""
    _figures.append(figure)


def table() -> list[str]:
    """The figures as lines, also written to `build/faults.json` in the full form."""
    if not _figures:
        return []
    if FULL:
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(json.dumps([asdict(figure) for figure in _figures], indent=1) + "\n")
    head = f"{'row':>4} {'what':<56} {'tried':>6} {'lost':>5} {'reruns':>6} {'wedged':>6} {'other':>5}"
    return [head] + [
        f"{each.row:>4} {each.what:<56} {each.tried:>6} {each.lost:>5} {each.reruns:>6} {each.wedged:>6} {each.other:>5}"
        for each in sorted(_figures, key=lambda each: each.row)
    ]
