"""Fault tests leave no process behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from tests.faults import process


@pytest.fixture(autouse=True)
async def no_process_is_left() -> AsyncIterator[None]:
    """What a test that failed in the middle did not end is ended here."""
    yield
    while process.RUNNING:
        child = process.RUNNING.pop()
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
