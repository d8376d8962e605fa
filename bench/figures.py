"""Figures: what was measured, with its goal from the design, as table rows and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal

Sense = Literal["<=", ">="]


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound that the median keeps."""

    sense: Sense
    bound: float

    def met(self, value: float) -> bool:
        """Whether a value keeps it."""
        return value <= self.bound if self.sense == "<=" else value >= self.bound

    def __str__(self) -> str:
        return f"{'≤' if self.sense == '<=' else '≥'} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """The values of every round of one measure; none where it could not be taken."""

    name: str
    unit: str
    values: Sequence[float]
    goal: Goal | None = None

    @property
    def value(self) -> float | None:
        """The median."""
        return median(self.values) if self.values else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The smallest and the largest value."""
        return (min(self.values), max(self.values)) if self.values else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal or a value."""
        return None if self.goal is None or self.value is None else self.goal.met(self.value)

    def as_dict(self) -> dict[str, Any]:
        """The row of `build/bench.json`."""
        return {
            "name": self.name,
            "value": None if self.value is None else round(self.value, 4),
            "unit": self.unit,
            "goal": None if self.goal is None else self.goal.bound,
            "met": self.met,
        }


@dataclass(slots=True)
class Rounds:
    """Collects values by measure, round by round; a child process hands them to its parent as JSON."""

    units: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, unit: str, *values: float) -> None:
        """More values of a measure."""
        self.units[name] = unit
        self.values.setdefault(name, []).extend(values)

    def note(self, text: str) -> None:
        """A row that only says something."""
        self.add(text, "")

    def dump(self) -> str:
        """As text for the parent."""
        return json.dumps(
            [{"name": name, "unit": self.units[name], "values": self.values[name]} for name in self.values]
        )


def load_rounds(text: str) -> list[tuple[str, str, list[float]]]:
    """Name, unit and values of each measure of a child."""
    return [(row["name"], row["unit"], row["values"]) for row in json.loads(text)]


def write_json(path: Path, figures: Sequence[Figure]) -> None:
    """`build/bench.json`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([figure.as_dict() for figure in figures], indent=1) + "\n", encoding="utf-8")
