"""`python -m bench [--readme] [--only PART ...]`; QUICK=1 takes few rounds, WRITE=1 is --readme."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.child import run_child
from bench.disks import Disk, open_disks
from bench.figures import Figure, write_json
from bench.goals import CONTROLLED, GOALS
from bench.machine import describe
from bench.report import print_table, write_readme

ROOT = Path(__file__).parent.parent
PARTS = ("in_process", "over_grpc", "growth", "workflow_growth", "cli")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the turn; bench/README.md says how.")
    parser.add_argument("--readme", action="store_true", help="write bench/README.md too")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure only this part; may be repeated")
    parser.add_argument("--tiny", action="store_true", help="one short round of everything, to see that it runs")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", help="where the figures go")
    options = parser.parse_args()
    size = "tiny" if options.tiny else "quick" if os.environ.get("QUICK", "") not in ("", "0") else "full"
    begin = time.monotonic()
    machine = describe(ROOT)
    figures = list(_measured(tuple(options.only or PARTS), size))
    write_json(options.json, figures)
    print_table(figures, f"{size} run, {time.monotonic() - begin:.0f} s")
    print(f"written: {options.json}")
    if options.readme or os.environ.get("WRITE", "") not in ("", "0"):
        write_readme(ROOT / "bench" / "README.md", figures, machine)
        print("written: bench/README.md")


# Options of each part by the size of the run.
SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "in_process": {
        "tiny": {"rounds": 1, "alone": 5, "together": 1},
        "quick": {"rounds": 5, "alone": 40, "together": 10},
        "full": {"rounds": 15, "alone": 100, "together": 25},
    },
    "over_grpc": {
        "tiny": {"rounds": 1, "alone": 5, "together": 1, "starts": 1},
        "quick": {"rounds": 5, "alone": 40, "together": 10, "starts": 3},
        "full": {"rounds": 15, "alone": 100, "together": 25, "starts": 7},
    },
    "growth": {"tiny": {"rounds": 5}, "quick": {"rounds": 25}, "full": {"rounds": 100}},
    "workflow_growth": {"tiny": {"rounds": 1}, "quick": {"rounds": 7}, "full": {"rounds": 15}},
}


def _measured(parts: tuple[str, ...], size: str) -> Iterator[Figure]:
    with open_disks(ROOT / "build") as (controlled, real):
        if controlled is None:
            _say("no C compiler or no preloading here: fsyncs are not counted, and there is no 1 ms disk")
        for part in ("in_process", "over_grpc"):
            if part in parts:
                for disk in filter(None, (controlled, real)):
                    yield from _child(part, disk, size, suffix=True)
        for part in ("growth", "workflow_growth"):
            if part in parts:
                yield from _child(part, controlled or real, size, suffix=False)
    if "cli" in parts:
        yield _help_cpu(1 if size == "tiny" else 5)


# Measured on the real disk alone.
_PLAIN = {"start to ready", "resident memory, idle"}


def _child(part: str, disk: Disk, size: str, *, suffix: bool) -> Iterator[Figure]:
    _say(f"{part.replace('_', ' ')}, {disk.name} …")
    begin = time.monotonic()
    options = SIZES[part][size]
    if part == "over_grpc" and disk.name == CONTROLLED:
        options = options | {"starts": 0}
    for name, unit, values in run_child(part, disk, **options):
        full = f"{name}, {disk.name}" if suffix and name not in _PLAIN else name
        yield Figure(full, unit, values, GOALS.get(full))
    _say(f"{part.replace('_', ' ')}, {disk.name}: {time.monotonic() - begin:.0f} s")


def _help_cpu(rounds: int) -> Figure:
    command = [str(Path(sys.executable).with_name("clew")), "--help"]
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Figure("clew --help", "s CPU", spent, None)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
