"""`python -m bench.profile [--turns N]`: where the time of the turn through gRPC goes, in the server."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import grpc
from rich.console import Console
from rich.table import Table

from bench.disks import open_disks
from bench.layers import Profile
from bench.over_grpc import Caller
from bench.samples import sample
from bench.server import serving

ROOT = Path(__file__).parent.parent
_THREADS = 32
_MOST = 40


class Spent:
    """CPU of the server's threads over all the turns, in ms: of the one with the event loop, and of all others."""

    def __init__(self, before: dict[int, float], after: dict[int, float], pid: int) -> None:
        each = {thread: after[thread] - before.get(thread, 0.0) for thread in after}
        self.loop_ms = 1000 * each.pop(pid)
        self.others_ms = 1000 * sum(each.values())


def main() -> None:
    """Profile, print, and leave the profile itself beside the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__)
    parser.add_argument("--turns", type=int, default=40, help=f"turns on each of {_THREADS} threads (default 40)")
    options = parser.parse_args()
    count = options.turns * _THREADS
    kept = ROOT / "build" / "profile.prof"
    kept.parent.mkdir(exist_ok=True)
    print(f"{count:,} turns without the profiler, then as many with it …", file=sys.stderr)
    with open_disks(ROOT / "build") as (controlled, real):
        disk = controlled or real
        os.environ |= disk.environment
        with tempfile.TemporaryDirectory(dir=disk.folder) as folder:
            plain = asyncio.run(_load(Path(folder), options.turns, None))
        with tempfile.TemporaryDirectory(dir=disk.folder) as folder:
            watched = asyncio.run(_load(Path(folder), options.turns, kept))
    profile = Profile(kept, count)
    console = Console(width=None if Console().is_terminal else 140)
    console.print(_threads_table(plain, count))
    console.print(_layers_table(profile, plain.loop_ms / count, watched.loop_ms / count))
    console.print(_functions_table(profile))
    print(f"written: {kept} (open it with `python -m pstats` or snakeviz)")


async def _load(folder: Path, turns: int, profile: Path | None) -> Spent:
    with serving(folder, f"sqlite://{folder}/served.db", profile=profile) as server:
        async with grpc.aio.insecure_channel(server.target) as channel:
            await sample(Caller(channel).turn, "warm", 4, 5)
            before = server.threads_cpu_s()
            if profile is not None:
                os.kill(server.pid, signal.SIGUSR1)
            await sample(Caller(channel).turn, "profiled", _THREADS, turns)
            if profile is not None:
                os.kill(server.pid, signal.SIGUSR1)
            return Spent(before, server.threads_cpu_s(), server.pid)


def _threads_table(spent: Spent, count: int) -> Table:
    table = Table(title="CPU a turn, without the profiler", title_justify="left")
    table.add_column("threads of the server")
    table.add_column("ms", justify="right")
    table.add_row("the one with the event loop", f"{spent.loop_ms / count:.2f}")
    table.add_row("SQLite's, gRPC's", f"{spent.others_ms / count:.2f}")
    return table


def _layers_table(profile: Profile, plain_ms: float, watched_ms: float) -> Table:
    """Of the event loop's CPU a turn. What the profiler does not see is C, and takes as long without it; the rest is shrunk to what is left."""
    layers = profile.layers()
    seen_ms = sum(us for _, us in layers) / 1000
    unseen_ms = watched_ms - seen_ms
    shrunk = (plain_ms - unseen_ms) / seen_ms
    rows = [(name, us / 1000 * shrunk) for name, us in layers]
    rows.append(("the event loop itself, with gRPC's core and its sockets", unseen_ms))
    table = Table(title=f"The event loop's thread by layer; {profile.calls():,.0f} calls a turn", title_justify="left")
    for column in ("layer", "ms a turn", "share"):
        table.add_column(column, justify="left" if column == "layer" else "right")
    for name, spent_ms in sorted(rows, key=lambda row: -row[1]):
        table.add_row(name, f"{spent_ms:.2f}", f"{100 * spent_ms / plain_ms:.0f} %")
    return table


def _functions_table(profile: Profile) -> Table:
    table = Table(title="Functions by their own time, a turn, under the profiler", title_justify="left")
    table.add_column("function", overflow="fold")
    for name in ("calls", "own µs", "with what it calls"):
        table.add_column(name, justify="right")
    for busy in profile.busiest(_MOST):
        table.add_row(busy.name, f"{busy.calls:.1f}", f"{busy.own_us:.0f}", f"{busy.whole_us:.0f}")
    return table


if __name__ == "__main__":
    main()
