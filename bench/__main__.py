"""`python -m bench [--readme] [--only PART ...]`; QUICK=1 takes few rounds, WRITE=1 is --readme, PEER_PYTHON runs peers."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.child import run_child
from bench.disks import Disk, open_disks
from bench.figures import Figure, write_json
from bench.goals import GOALS, POSTGRES, SQLITE
from bench.machine import describe
from bench.peers.environments import PEERS, NotInstalledError, python_of, versions
from bench.report import print_table, write_readme

ROOT = Path(__file__).parent.parent
PARTS = ("turns", "over_grpc", "growth", "workflow_growth", "many_threads", "open_watches", "cli")


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
    parts = tuple(options.only or PARTS)
    pythons, figures = _peers() if "turns" in parts else ({}, [])
    machine += [(peer.name, versions(peer, pythons[peer.name])) for peer in PEERS if peer.name in pythons]
    figures += _measured(parts, size, pythons)
    write_json(options.json, figures)
    run = f"{size} run, {time.monotonic() - begin:.0f} s"
    print_table(figures, run)
    print(f"written: {options.json}")
    if options.readme or os.environ.get("WRITE", "") not in ("", "0"):
        write_readme(ROOT / "bench" / "README.md", figures, machine, run)
        print("written: bench/README.md")


# Options of each part by the size of the run.
SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "turns": {
        "tiny": {"rounds": 1, "within_s": 0, "turns": (5, 1), "peer_turns": (2, 1)},
        "quick": {"rounds": 5, "within_s": 35, "turns": (20, 5), "peer_turns": (10, 2)},
        "full": {"rounds": 9, "within_s": 300, "turns": (50, 10), "peer_turns": (50, 10)},
    },
    "over_grpc": {
        "tiny": {"rounds": 1, "starts": 1, "under_load": 2},
        "quick": {"rounds": 5, "starts": 3, "under_load": 10},
        "full": {"rounds": 15, "starts": 7, "under_load": 20},
    },
    "growth": {"tiny": {"rounds": 5}, "quick": {"rounds": 15}, "full": {"rounds": 100}},
    "workflow_growth": {"tiny": {"rounds": 1}, "quick": {"rounds": 3}, "full": {"rounds": 15}},
    "many_threads": {
        "tiny": {"rounds": 1, "threads": 100},
        "quick": {"rounds": 3, "threads": 5_000},
        "full": {"rounds": 9, "threads": 100_000},
    },
    "open_watches": {
        "tiny": {"rounds": 1, "watches": 100},
        "quick": {"rounds": 3, "watches": 500},
        "full": {"rounds": 15, "watches": 5_000},
    },
}


def _peers() -> tuple[dict[str, Path], list[Figure]]:
    """The Python of each peer that can be had, and a row for each that cannot."""
    pythons, missing = dict[str, Path](), list[Figure]()
    for peer in PEERS:
        _say(f"{peer.name} …")
        try:
            pythons[peer.name] = python_of(peer, ROOT / ".deps" / "peers")
        except NotInstalledError as error:
            missing.append(Figure(f"not measured ({error}): {peer.name}", "", ()))
    return pythons, missing


def _measured(parts: tuple[str, ...], size: str, pythons: Mapping[str, Path]) -> Iterator[Figure]:
    with open_disks(ROOT / "build") as (controlled, real):
        if controlled is None:
            yield Figure("not measured (no C compiler, or no preloading): the 1 ms disk, fsyncs", "", ())
        disks = [disk for disk in (controlled, real) if disk is not None]
        if "turns" in parts:
            for database in (SQLITE, POSTGRES):
                for disk in disks[:1] if size == "tiny" else disks:
                    more: dict[str, Any] = {"pythons": {name: str(python) for name, python in pythons.items()}}
                    if size == "quick" and disk is not disks[0]:
                        # It has no time for peers on this one; no goal is about it.
                        more = {"pythons": {}, "within_s": 10}
                    yield from _child("turns", disk, size, suffix=True, database=database, **more)
        if "over_grpc" in parts:
            for disk in disks:
                starts = {"starts": 0} if disk is controlled else {}
                yield from _child("over_grpc", disk, size, suffix=True, **starts)
        for part in ("growth", "workflow_growth", "many_threads", "open_watches"):
            if part in parts:
                yield from _child(part, disks[0], size, suffix=False)
    if "cli" in parts:
        yield _help_cpu(1 if size == "tiny" else 5)


# Measured on the real disk alone.
_PLAIN = {"start to ready", "resident memory, idle"}


def _child(part: str, disk: Disk, size: str, *, suffix: bool, **more: Any) -> Iterator[Figure]:
    what = ", ".join((part.replace("_", " "), *filter(None, (more.get("database"),)), disk.name))
    _say(f"{what} …")
    begin = time.monotonic()
    for name, unit, values in run_child(part, disk, **SIZES[part][size] | more):
        full = f"{name}, {disk.name}" if suffix and name not in _PLAIN else name
        # What has no value is a goal that was missed, or a note, which has no unit.
        if values or full in GOALS or not unit:
            yield Figure(full, unit, values, GOALS.get(full))
    _say(f"{what}: {time.monotonic() - begin:.0f} s")


def _help_cpu(rounds: int) -> Figure:
    command = [str(Path(sys.executable).with_name("clew")), "--help"]
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Figure("clew --help", "s CPU", spent, GOALS.get("clew --help"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
