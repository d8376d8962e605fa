"""What a profile's time goes to, layer by layer: a function's own time, and that of the C functions that it calls."""

from __future__ import annotations

import pstats
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_Function = tuple[str, int, str]
_Counts = tuple[int, int, float, float]

# By the first part of the path that fits.
_LAYERS = (
    ("server/clew_server/rpc/wire", "wire: events as messages of the contract"),
    ("server/clew_server", "server: handlers, frames, log line"),
    ("clients/python/clew/v1", "wire: events as messages of the contract"),
    ("engine/clew_engine", "engine"),
    ("storage/clew_storage", "storage: rows, leases, gathered commits"),
    ("bench/", "the model and the tools"),
    ("aiosqlite", "storage: hops to SQLite's threads"),
    ("grpc", "gRPC's Python"),
    ("google/protobuf", "protobuf"),
    ("structlog", "log line"),
    ("logging", "log line"),
    ("asyncio", "asyncio: tasks, futures, waits"),
)
_OTHER = "Python's library: contexts, copies of records, weak references"


@dataclass(frozen=True, slots=True)
class Busy:
    """A function that takes time: per turn its calls, its own µs, and those with all that it calls."""

    name: str
    calls: float
    own_us: float
    whole_us: float


class Profile:
    """A server's profile that was taken over `turns` turns."""

    def __init__(self, path: Path, turns: int) -> None:
        self._turns = turns
        self._functions: Mapping[_Function, tuple[int, int, float, float, Mapping[_Function, _Counts]]]
        self._functions = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]

    def layers(self) -> list[tuple[str, float]]:
        """µs a turn by layer, largest first."""
        spent: dict[str, float] = defaultdict(float)
        for function, (_, calls, own, _, callers) in self._functions.items():
            if function[0] != "~" or not callers:
                spent[_layer(function)] += own
                continue
            counted = sum(count[1] for count in callers.values()) or calls
            for caller, count in callers.items():
                spent[_layer(caller)] += own * count[1] / counted
        return sorted(((name, self._us(seconds)) for name, seconds in spent.items()), key=lambda row: -row[1])

    def busiest(self, most: int) -> Iterator[Busy]:
        """The functions that take the most time themselves."""
        rows = sorted(self._functions.items(), key=lambda row: -row[1][2])
        for function, (_, calls, own, whole, _) in rows[:most]:
            yield Busy(_named(function), calls / self._turns, self._us(own), self._us(whole))

    def calls(self) -> float:
        """Function calls a turn."""
        return sum(row[1] for row in self._functions.values()) / self._turns

    def _us(self, seconds: float) -> float:
        return 1e6 * seconds / self._turns


def _layer(function: _Function) -> str:
    path = function[0]
    return next((layer for part, layer in _LAYERS if part in path), _OTHER)


def _named(function: Any) -> str:
    path, line, name = function
    if path == "~":
        return str(name)
    short = next((path[path.index(part) :] for part, _ in _LAYERS if part in path), Path(path).name)
    return f"{short}:{line} {name}"
