"""Every scenario runs on every backend: on Postgres through one of the surfaces, some of them behind a PgBouncer too, and with CLEW_FAULTS=full all through each."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from zlib import crc32

import pytest

from tests.scenarios.over_grpc import OverGrpc
from tests.scenarios.world import InProcess, Surface, World
from tests.support.postgres import in_schema

BACKENDS = ("memory", "sqlite", "postgres")
# The same database through a pooler: the statements are the same, so each verb is tried by some scenario, and all by the full form.
BEHIND = "pgbouncer"
_ONE_IN = 8
SURFACES: dict[str, Surface] = {"in_process": InProcess, "grpc": OverGrpc}


def url_of(backend: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """A fresh database."""
    if backend in {"postgres", BEHIND}:
        # The server is started by the first that needs it.
        return in_schema(request.getfixturevalue(f"{backend}_dsn"))
    return "memory://" if backend == "memory" else f"sqlite://{folder / 'clew.db'}"


@pytest.fixture(params=BACKENDS)
async def here(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, in process alone: for what no caller of a server sees."""
    made = World(url_of(request.param, request, tmp_path), InProcess)
    yield made
    await made.close()


@pytest.fixture(params=[f"{backend}-{surface}" for backend in (*BACKENDS, BEHIND) for surface in SURFACES])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """A world on each backend, through each surface."""
    backend, _, surface = str(request.param).partition("-")
    made = World(url_of(backend, request, tmp_path), SURFACES[surface])
    yield made
    await made.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("CLEW_FAULTS") == "full":
        return
    left_out = [item for item in items if _is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _is_left_out(item: pytest.Item) -> bool:
    """On Postgres half of the tests go in process and the other half over gRPC, and a part of them through PgBouncer, always the same ones."""
    base, _, parameters = item.nodeid.partition("[")
    number = crc32(base.encode())
    for backend, one_in in (("postgres", 1), (BEHIND, _ONE_IN)):
        surface = next((each for each in SURFACES if f"{backend}-{each}" in parameters), None)
        if surface is not None:
            chosen, rest = divmod(number, one_in)
            return bool(rest) or surface != list(SURFACES)[chosen % len(SURFACES)]
    return False
