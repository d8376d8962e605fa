"""What blocks the event loop holds every thread up, and is told in the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from structlog.testing import capture_logs

from clew_server import standstills


@asynccontextmanager
async def watching(silent_s: float) -> AsyncIterator[None]:
    task = asyncio.create_task(standstills.watch(every_s=0.001, late_s=0.05, silent_s=silent_s))
    await asyncio.sleep(0)
    yield
    task.cancel()
    await asyncio.wait({task})


async def looked_again() -> None:
    """The watch has had its turn since."""
    await asyncio.sleep(0.01)


def block() -> None:
    """As an author's async tool does that waits in the wrong way."""
    time.sleep(0.1)


async def told(silent_s: float) -> int:
    """How many lines three standstills make."""
    with capture_logs() as logs:
        async with watching(silent_s):
            for _ in range(3):
                block()
                await looked_again()
    return sum(each["event"] == "every thread stood still" for each in logs)


async def test_a_loop_that_is_blocked_is_told_once() -> None:
    assert await told(silent_s=60.0) == 1


async def test_a_loop_that_is_blocked_long_after_is_told_again() -> None:
    assert await told(silent_s=0.05) == 3
