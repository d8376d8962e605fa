"""Every scenario runs on every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.world import InProcess, Surface, World
from tests.support.postgres import in_schema

BACKENDS = ("memory", "sqlite", "postgres")
SURFACES: dict[str, Surface] = {"in_process": InProcess, "grpc": OverGrpc}


def url_of(backend: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """A fresh database."""
    if backend == "postgres":
        # The server is started by the first that needs it.
        return in_schema(request.getfixturevalue("postgres_dsn"))
    return "memory://" if backend == "memory" else f"sqlite://{folder / 'clew.db'}"


@pytest.fixture(params=BACKENDS)
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, in process alone: for what no caller of a server sees."""
    made = World(url_of(request.param, request, tmp_path), InProcess)
    yield made
    await made.close()


@pytest.fixture(params=[f"{backend}-{surface}" for backend in BACKENDS for surface in SURFACES])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, through each surface."""
    backend, _, surface = str(request.param).partition("-")
    made = World(url_of(backend, request, tmp_path), SURFACES[surface])
    yield made
    await made.close()
