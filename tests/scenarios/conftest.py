"""Every scenario runs on every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.world import InProcess, Surface, World

BACKENDS = ("memory", "sqlite")
SURFACES: dict[str, Surface] = {"in_process": InProcess, "grpc": OverGrpc}


def url_of(backend: str, folder: Path) -> str:
    """A fresh database."""
    return "memory://" if backend == "memory" else f"sqlite://{folder / 'clew.db'}"


@pytest.fixture(params=BACKENDS)
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, in process alone: for what no caller of a server sees."""
    made = World(url_of(request.param, tmp_path), InProcess)
    yield made
    await made.close()


@pytest.fixture(params=[f"{backend}-{surface}" for backend in BACKENDS for surface in SURFACES])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, through each surface."""
    backend, _, surface = str(request.param).partition("-")
    made = World(url_of(backend, tmp_path), SURFACES[surface])
    yield made
    await made.close()
