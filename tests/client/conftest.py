from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from clew import Client
from tests.client.scripted import ScriptedServer


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def client(server: ScriptedServer) -> AsyncIterator[Client]:
    async with Client(server.target) as client:
        # A test need not wait for what a person would.
        client.settings = replace(client.settings, backoff=(0.01, 0.05))
        yield client
