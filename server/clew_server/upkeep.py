"""What a server does beside its calls: request ids that were seen a day ago and values that have expired are forgotten."""

from __future__ import annotations

import asyncio

import structlog

from clew_engine.cached_values import forget_expired
from clew_engine.storage import Storage
from clew_storage import StorageError

_log = structlog.stdlib.get_logger("clew.server")
_EVERY_S = 600.0
KEPT_MS = 24 * 3600 * 1000


async def upkeep(storage: Storage) -> None:
    """Until it is cancelled."""
    while True:
        await asyncio.sleep(_EVERY_S)
        await forget_requests(storage)
        await forget_expired(storage)


async def forget_requests(storage: Storage) -> int:
    """Drop what is kept of request ids after 24 hours; how many went."""
    try:
        return await storage.backend.threads.forget_requests(before_ms=storage.now_ms() - KEPT_MS)
    except StorageError as error:
        _log.warning("old request ids could not be forgotten", why=str(error))
        return 0
