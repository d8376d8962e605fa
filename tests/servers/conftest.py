"""Several servers on one Postgres database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tests.scenarios.world import InProcess, World
from tests.support.postgres import in_schema

# Short, so that a test need not wait long for a lease to run out.
LEASE_S = 1.5


@pytest.fixture
async def server(postgres_dsn: str) -> AsyncIterator[Callable[[], World]]:
    """Makes one more server on the same database."""
    url = in_schema(postgres_dsn, lease_s=LEASE_S, poll_s=0.05)
    made: list[World] = []

    def make() -> World:
        world = World(url, InProcess)
        world.tune(look_s=0.05)
        made.append(world)
        return world

    yield make
    for world in made:
        await world.close()
