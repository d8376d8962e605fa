"""Records what the last release stores, and what it tells of it, for the present code to be held to: `python -m tests.upgrades.record RELEASED`.

RELEASED is a folder with its code (`git archive`), and CLEW_TEST_POSTGRES_BIN one with the programs of a Postgres. Run once for a release; what it writes is committed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.gates import FileGate
from tests.faults.served_process import ServedProcess
from tests.support.postgres import a_server, in_schema
from tests.upgrades.releases import HERE, digest, start_released
from tests.upgrades.stories import THREADS, live, tell

_KEPT = ("INSERT INTO", "SELECT pg_catalog.setval")


async def record(released: Path, binaries: Path) -> None:
    """A database of each kind."""
    with tempfile.TemporaryDirectory() as home, a_server() as database:
        for name, url in (("sqlite", ""), ("postgres", in_schema(database.dsn, "clew", lease_s=2))):
            folder = Path(home) / name
            gate = FileGate(Path(home) / f"{name}-gate")
            server = ServedProcess(folder, url)
            await start_released(server, released, **gate.environment)
            await live(server)
            await server.hang_up()
            await start_released(server, released)
            told = {thread: await tell(server.thread(thread)) for thread in THREADS}
            await server.kill()
            await server.hang_up()
            lines = (f'"{thread}": {json.dumps(told[thread], sort_keys=True)}' for thread in sorted(told))
            (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
            rows = _rows_of_postgres(binaries, database.dsn) if url else _rows_of_sqlite(server.database)
            (HERE / f"{name}.sql").write_text("".join(f"{row}\n" for row in rows))


def record_steps(released: Path) -> None:
    """The steps that made them."""
    steps = sorted(released.glob("storage/clew_storage/*/migrations/*.sql"))
    (HERE / "steps.txt").write_text("".join(f"{digest(step)} {step.relative_to(released)}\n" for step in steps))


def _rows_of_sqlite(database: Path) -> list[str]:
    with sqlite3.connect(database) as connection:
        return [line for line in connection.iterdump() if line.startswith("INSERT") and '"formats"' not in line]


def _rows_of_postgres(binaries: Path, dsn: str) -> list[str]:
    command = [
        str(binaries / "pg_dump"),
        "--data-only",
        "--inserts",
        "--column-inserts",
        "-n",
        "clew",
        "-T",
        "clew.formats",
        dsn,
    ]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line for line in dumped.splitlines() if line.startswith(_KEPT)]


if __name__ == "__main__":
    record_steps(Path(sys.argv[1]))
    asyncio.run(record(Path(sys.argv[1]), Path(os.environ["CLEW_TEST_POSTGRES_BIN"])))
