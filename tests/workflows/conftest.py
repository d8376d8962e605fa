"""A storage for each test, on each backend that needs no server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew_engine import Storage, Tuning


@pytest.fixture(params=["memory", "sqlite"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    """Open, and closed afterwards."""
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path / 'clew.db'}"
    async with Storage(url, tuning=Tuning(cancel_grace_s=0.2, model_backoff_s=0.0)) as opened:
        yield opened
