"""The event loop serves every thread: what blocks it holds them all up, and is told in the log."""

from __future__ import annotations

import asyncio

import structlog

_log = structlog.stdlib.get_logger("clew.server")
# How often it is looked, how late is told, and how long nothing more is told then.
EVERY_S, LATE_S, SILENT_S = 0.25, 1.0, 60.0
_WHY = "an async tool, hook or model of an app that blocks (a plain `def` runs in a thread of its own), or a machine without time for this process"


async def watch(*, every_s: float = EVERY_S, late_s: float = LATE_S, silent_s: float = SILENT_S) -> None:
    """Until it is cancelled: a line in the log where the loop comes much later than asked, and at most one a minute."""
    loop = asyncio.get_running_loop()
    silent_until = loop.time()
    while True:
        due = loop.time() + every_s
        await asyncio.sleep(every_s)
        now = loop.time()
        if now - due >= late_s and now >= silent_until:
            silent_until = now + silent_s
            _log.warning("every thread stood still", seconds=round(now - due, 1), why=_WHY)
