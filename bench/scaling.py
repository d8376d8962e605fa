"""What a turn costs on Postgres, with one worker and with two: `python -m bench.scaling DSN`; docs/scaling.md has the figures.

The database must be on this machine, and its user may make schemas; each run leaves none behind. CPU is what `/proc` says of
the workers and of all processes of the database.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import asyncpg
import grpc

from bench.over_grpc import Caller

_SERVE = (str(Path(sys.executable).with_name("clew")), "serve", "bench.served", "--port", "0")
_TICKS = os.sysconf("SC_CLK_TCK")
# Connections of callers: the more there are, the more evenly they fall on the workers.
_CHANNELS = 8
_SIZE = """
SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'r'
"""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--turns", type=int, default=20, help="on each thread, a round")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, rounds of {options.threads} x {options.turns} turns")
    for workers in (1, 2):
        rounds = asyncio.run(_measure(options.dsn, workers, options.rounds, options.threads, options.turns))
        for name, values in rounds.items():
            told = f"{statistics.median(values):10.2f}  ({min(values):.2f} to {max(values):.2f})"
            print(f"{workers} worker{'s' * (workers > 1)}  {name:34}{told}")


async def _measure(dsn: str, workers: int, rounds: int, threads: int, turns: int) -> dict[str, list[float]]:
    schema = f"bench_{uuid4().hex}"
    database = await asyncpg.connect(dsn)
    postmaster = _parent(await database.fetchval("SELECT pg_backend_pid()"))
    found: dict[str, list[float]] = {}
    try:
        with _serving(dsn, schema, workers) as (target, server):
            channels = [
                grpc.aio.insecure_channel(target, [("grpc.use_local_subchannel_pool", 1)]) for _ in range(_CHANNELS)
            ]
            callers = [Caller(channel) for channel in channels]
            await _turns(callers, "warm", threads, 2)
            for number in range(rounds):
                before = await _state(database, schema, server, postmaster)
                begin = time.perf_counter()
                await _turns(callers, f"r{number}", threads, turns)
                wall, count = time.perf_counter() - begin, threads * turns
                after = await _state(database, schema, server, postmaster)
                spent = [(now - then) / count for now, then in zip(after, before, strict=True)]
                names = ("CPU of the workers, ms", "CPU of Postgres, ms", "bytes of WAL", "bytes stored")
                for name, value in zip(("turns/s", *names), (count / wall, *spent), strict=True):
                    found.setdefault(name if name == "turns/s" else f"a turn: {name}", []).append(value)
            for channel in channels:
                await channel.close()
    finally:
        await database.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        await database.close()
    return found


async def _turns(callers: list[Caller], name: str, threads: int, turns: int) -> None:
    async def one(number: int) -> None:
        for _ in range(turns):
            await callers[number % len(callers)].turn(f"{name}-{number}")

    await asyncio.gather(*map(one, range(threads)))


async def _state(
    database: asyncpg.Connection[asyncpg.Record], schema: str, server: int, postmaster: int
) -> tuple[float, float, float, float]:
    wal = await database.fetchval("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
    size = await database.fetchval(_SIZE, schema)
    return _cpu_ms(server), _cpu_ms(postmaster), float(wal), float(size)


@contextmanager
def _serving(dsn: str, schema: str, workers: int) -> Iterator[tuple[str, int]]:
    """The address, and the process that has the workers."""
    mark = "&" if "?" in dsn else "?"
    with tempfile.TemporaryDirectory() as folder:
        port = Path(folder) / "port"
        storage = f"{dsn}{mark}schema={schema}"
        command = [*_SERVE, "--storage", storage, "--workers", str(workers), "--port-file", str(port)]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            while not port.exists():
                if process.poll() is not None:
                    raise RuntimeError((Path(folder) / "log").read_text(encoding="utf-8"))
                time.sleep(0.01)
            yield f"127.0.0.1:{port.read_text(encoding='utf-8').strip()}", process.pid
        finally:
            process.terminate()
            process.wait()


def _cpu_ms(pid: int) -> float:
    """Of a process and its children, those that have ended included."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    own = 1000 * sum(map(int, fields[11:15])) / _TICKS
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return own + sum(_cpu_ms(int(child)) for child in children)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


if __name__ == "__main__":
    main()
