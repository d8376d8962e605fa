"""A server for each test, on each storage, and the folder of one that is a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.rpc.agents import Gate, support
from tests.rpc.serve_process import AGENT
from tests.support.serving import Served, serving


@pytest.fixture
async def gate() -> Gate:
    """What a run waits at until the test lets it go on."""
    return Gate()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """The support agent on memory storage."""
    async with serving([support()]) as running:
        yield running


@pytest.fixture(params=["memory", "sqlite"])
async def served_on_each(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Served]:
    """The support agent on each storage."""
    url = "memory://" if request.param == "memory" else f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([support()], url) as running:
        yield running


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with the agent that `clew serve` serves."""
    (tmp_path / "shop.py").write_text(AGENT)
    return tmp_path
