"""Waiting for what nobody tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(is_so: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Look again and again until it is so."""
    async with asyncio.timeout(timeout_s):
        while not is_so():  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.01)
