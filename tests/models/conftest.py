from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.models.provider_server import ProviderServer
from tests.models.real_model import real_model_url

__all__ = ["real_model_url", "server"]


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    async with ProviderServer().listening() as listening:
        yield listening
