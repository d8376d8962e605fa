"""Bringing a database's format up to date by itself, before anything else uses it."""

from __future__ import annotations

import asyncio
import time

from clew_storage import FormatChange, StorageInUse, open_storage

# How often one that waits for its turn looks whether the database is free.
_LOOK_S = 0.02


async def set_up(url: str, *, timeout_s: float) -> FormatChange:
    """Own the database for as long as its migrations take, and let it go. While another process owns it, wait; after the timeout raise StorageInUse."""
    until = time.monotonic() + timeout_s
    while True:
        backend = open_storage(url)
        try:
            change = await backend.open()
        except StorageInUse:
            if time.monotonic() >= until:
                raise
            await asyncio.sleep(_LOOK_S)
        else:
            await backend.close()
            return change
