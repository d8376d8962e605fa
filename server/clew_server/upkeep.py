"""What a server does beside its calls: it forgets what is kept for a time only, and lets go what its retention says."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import structlog

from clew_engine.cached_values import forget_expired
from clew_engine.errors import ClewError
from clew_engine.retention import Retention
from clew_engine.storage import Storage
from clew_engine.troubles import is_told
from clew_storage import StorageError

_log = structlog.stdlib.get_logger("clew.server")
_EVERY_S = 600.0
KEPT_MS = 24 * 3600 * 1000
_LEASES = 1000


async def upkeep(storage: Storage, retention: Retention | None) -> None:
    """Until it is cancelled. Several servers on a database may do so at once: what one has done is left to none."""
    while True:
        await asyncio.sleep(_EVERY_S)
        await forget_requests(storage)
        await forget_leases(storage)
        await forget_expired(storage)
        await forget_calls(storage)
        if retention is not None:
            await retire(storage, retention)


async def forget_requests(storage: Storage) -> int:
    """Drop what is kept of request ids, and of deleted threads, after 24 hours; how many requests went."""
    try:
        return await storage.backend.threads.forget_requests(before_ms=storage.now_ms() - KEPT_MS)
    except StorageError as error:
        _warn("old request ids could not be forgotten", error)
        return 0


async def forget_leases(storage: Storage) -> int:
    """Drop what is kept of leases on threads that do not exist, a part at a time; how many went."""
    went, after = 0, None
    try:
        while True:
            part, after = await storage.backend.retention.forget_leases(after=after, limit=_LEASES)
            went += part
            if after is None:
                return went
            await asyncio.sleep(0)
    except StorageError as error:
        _warn("idle leases could not be forgotten", error)
        return went


async def forget_calls(storage: Storage) -> int:
    """Drop what is kept of calls that workers have finished, and of those that they left, after 24 hours; how many went."""
    try:
        return await storage.backend.exchange.forget(before_ms=storage.now_ms() - KEPT_MS)
    except StorageError as error:
        _warn("old calls of tools could not be forgotten", error)
        return 0


async def retire(storage: Storage, retention: Retention) -> tuple[int, int]:
    """Let go what may; how many threads were deleted, and how many trimmed."""
    deleted = trimmed = 0
    try:
        async with aclosing(storage.retire(retention)) as found:
            async for retired in found:
                if retired.oldest_version:
                    trimmed += 1
                else:
                    deleted += 1
    except ClewError as error:
        _warn("the retention's sweep was broken off", error)
    if deleted or trimmed:
        _log.info("old threads were let go", deleted=deleted, trimmed=trimmed)
    return deleted, trimmed


def _warn(what: str, error: Exception) -> None:
    if not is_told(error):
        _log.warning(what, why=str(error))
