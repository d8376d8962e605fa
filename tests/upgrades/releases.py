"""Which commit the last release is, and its servers beside those of the present code."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tests.faults.served_process import ServedProcess

HERE = Path(__file__).parent
_SOURCES = (".", "server", "engine", "storage", "clients/python")


def commit() -> str:
    """The last release's."""
    lines = (HERE / "release.txt").read_text().splitlines()
    return next(line for line in lines if not line.startswith("#"))


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


async def start_released(server: ServedProcess, folder: Path, **environment: str) -> None:
    """Start it with the code of the last release, which lies in this folder."""
    server.root = folder
    sources = os.pathsep.join(str(folder / source) for source in _SOURCES)
    await server.start(PYTHONPATH=sources, **environment)
