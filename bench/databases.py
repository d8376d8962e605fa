"""Where the turns are kept: SQLite files, or a Postgres server of the measure's own, on the disk that is measured."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from bench.goals import SQLITE
from tests.support.postgres import a_server
from tests.support.postgres_keeper import binaries

# Gives an empty database of this name, as a URL.
NewDatabase = Callable[[str], Awaitable[str]]


class NoDatabaseError(Exception):
    """There is no such database here; the text says why."""


@asynccontextmanager
async def databases(kind: str, folder: Path) -> AsyncGenerator[NewDatabase, None]:
    """Databases in the folder, under the environment of this process.

    Raises:
        NoDatabaseError: There is no Postgres, or it cannot get at the folder.
    """
    if kind == SQLITE:

        async def new_file(name: str) -> str:
            return f"sqlite://{folder / name}.db"

        yield new_file
        return
    postgres_version()
    if os.geteuid() == 0 and not all(each.stat().st_mode & 0o001 for each in (folder, *folder.parents)):
        raise NoDatabaseError("Postgres does not run as root, and only root can reach the folder")
    with a_server(f"folder={folder}", "shared_buffers=128MB") as server:
        _check_preloaded(folder)
        connection = await asyncpg.connect(server.dsn)

        async def new_database(name: str) -> str:
            await connection.execute(f'CREATE DATABASE "{name}"')
            return f"{server.dsn.rpartition('/')[0]}/{name}"

        try:
            yield new_database
        finally:
            await connection.close()


def postgres_version() -> str:
    """Of the server that is measured.

    Raises:
        NoDatabaseError: There is none.
    """
    try:
        command = [str(binaries() / "postgres"), "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoDatabaseError(str(error)) from error
    return said.split()[-1]


def _check_preloaded(folder: Path) -> None:
    """That the server has the shim which this process was given: without it its disk would be another one."""
    preloaded = os.environ.get("LD_PRELOAD")
    if preloaded is None:
        return
    (pid_file,) = folder.glob("clew-postgres-*/data/postmaster.pid")
    pid = pid_file.read_text(encoding="utf-8").split()[0]
    if preloaded not in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8"):
        raise RuntimeError(f"Postgres did not load {preloaded}")
