"""Whether calls would be served now. The storage is asked again and again; what changes is logged, and told to whoever balances load."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from clew_engine.causes import told
from clew_storage import StorageAway, StorageError, StorageFull

_log = structlog.stdlib.get_logger("clew.server")
# How often it is asked, and how long an answer may take: longer than a connection (`connect_timeout_s`), of which the storage tells itself.
EVERY_S, PATIENCE_S = 2.0, 6.0


async def watch(
    check: Callable[[], Awaitable[None]],
    tell: Callable[[bool], Awaitable[None]],
    *,
    every_s: float = EVERY_S,
    patience_s: float = PATIENCE_S,
) -> None:
    """Until it is cancelled: `tell` is given each change, from ready, which a server is that has just opened its storage."""
    was: str | None = None
    while True:
        await asyncio.sleep(every_s)
        asking = asyncio.ensure_future(_why_not(check))
        try:
            # A question without an answer is not given up: the next one would wait behind it.
            await asyncio.wait({asking}, timeout=patience_s)
            if not asking.done() and was is None:
                was = await _tell_change(tell, was, f"the storage has not answered for {patience_s:g} s")
            was = await _tell_change(tell, was, await asking)
        finally:
            asking.cancel()


async def _why_not(check: Callable[[], Awaitable[None]]) -> str | None:
    """Why calls would be refused; empty where that is in the log already, None where they would not be."""
    try:
        await check()
    except StorageFull:
        # Reads go on, and who writes is told.
        return None
    except StorageAway:
        return ""
    except StorageError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - calls would meet it too
        return told(error)
    return None


async def _tell_change(tell: Callable[[bool], Awaitable[None]], was: str | None, why: str | None) -> str | None:
    """Log and tell what is not as it was; how it is now."""
    if why and why != was:
        _log.warning("not ready: calls are refused", why=why)
    if was and why is None:
        _log.warning("ready again")
    if (was is None) is not (why is None):
        await tell(why is None)
    return why
