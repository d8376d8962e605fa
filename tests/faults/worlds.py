"""A world on a SQLite file of its own, closed whatever happens in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.scenarios.world import InProcess, Surface, World


@asynccontextmanager
async def sqlite_world(database: Path, surface: Surface = InProcess) -> AsyncIterator[World]:
    """A world, open for as long as the block."""
    world = World(f"sqlite://{database}", surface)
    try:
        yield world
    finally:
        await world.close()
