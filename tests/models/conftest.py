from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.models.provider_server import ProviderServer


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    async with ProviderServer().listening() as listening:
        yield listening
