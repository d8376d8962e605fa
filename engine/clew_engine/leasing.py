"""Waiting for a busy thread: the policy of the call, its time, and who goes first."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from clew_engine.errors import StreamCutError, ThreadBusyError
from clew_engine.lookout import keep_stopping
from clew_engine.options import OnBusy, RunOptions
from clew_storage import Grant, Head, LeaseBusy, ThreadKey

if TYPE_CHECKING:
    from clew_engine.arrivals import Arrival
    from clew_engine.storage import Storage

# What is left of a caller's deadline for the refusal to reach it.
_MARGIN_S = 0.2
DRAINING = "the server is shutting down and takes no new runs"
INTERRUPTED = "the run was interrupted by a newer call"


def is_void(grant: Grant, head: Head | None) -> bool:
    """Whether a grant was void before this head was read: the thread has what was written under a later one, or was deleted since.

    Writes are fenced by the storage. This is the fence of what is only read: by a void grant nobody may be judged, or told, how a thread stands.
    """
    return head is not None and head.thread.epoch > grant.epoch


class BusyWait:
    """One call's way to the lease."""

    def __init__(
        self, storage: Storage, key: ThreadKey, options: RunOptions, purpose: str, arrival: Arrival | None = None
    ) -> None:
        self._storage = storage
        self._key = key
        self._purpose = purpose
        self._arrival = arrival
        self._policy = options.on_busy or storage.tuning.on_busy
        timeout = storage.tuning.busy_timeout_s if options.busy_timeout_s is None else options.busy_timeout_s
        if options.deadline_s is not None:
            timeout = min(timeout, max(0.0, options.deadline_s - _MARGIN_S))
        self._timeout = timeout
        self._began = time.monotonic()

    async def at_once(self) -> Grant | None:
        """The lease if it is free."""
        try:
            return await self._storage.backend.leases.acquire(self._key, purpose=self._purpose, wait_s=0)
        except LeaseBusy:
            return None

    async def try_now(self) -> Grant | None:
        """The lease if it is free. Raises ThreadBusyError where the policy is to reject."""
        grant = await self.at_once()
        if grant is None and self._policy is OnBusy.REJECT:
            raise ThreadBusyError(self._key.thread_id, 0.0)
        return grant

    async def acquire(self) -> Grant:
        """Wait for the lease, or interrupt its holder and go before those who wait. Raises ThreadBusyError, with nothing done."""
        first = self._policy is OnBusy.INTERRUPT
        if first:
            live = self._storage.live.get(self._key)
            if live is not None:
                live.stop("cancelled", INTERRUPTED)
        left = max(0.0, self._timeout - (time.monotonic() - self._began))
        self._storage.interrupters[self._key] += first
        elsewhere = None
        if first and self._storage.backend.shared:
            elsewhere = self._storage.spawn(keep_stopping(self._storage, self._key))
        try:
            return await self._granted(left, first)
        except LeaseBusy:
            raise ThreadBusyError(self._key.thread_id, time.monotonic() - self._began) from None
        finally:
            if elsewhere is not None:
                elsewhere.cancel()
            # A call that waits to interrupt also interrupts whoever is granted the thread before it.
            self._storage.interrupters[self._key] -= first
            if not self._storage.interrupters[self._key]:
                del self._storage.interrupters[self._key]

    async def _granted(self, left: float, first: bool) -> Grant:
        """The grant, unless the storage drains or the call is withdrawn first: then whoever still waits is told so."""
        leases, waiting = self._storage.backend.leases, self._storage.waiting
        asked = asyncio.ensure_future(leases.acquire(self._key, purpose=self._purpose, wait_s=left, first=first))
        waiting.add(asked)
        if self._arrival is not None:
            self._arrival.waits_for(asked)
        try:
            return await asked
        except asyncio.CancelledError:
            if asked.done() and not asked.cancelled() and asked.exception() is None:
                self._storage.spawn(leases.release(asked.result()))
            task = asyncio.current_task()
            if asked.cancelled() and not (task and task.cancelling()):
                if self._arrival is not None:
                    self._arrival.check()
                if self._storage.draining:
                    raise StreamCutError(0, DRAINING) from None
            raise
        finally:
            waiting.discard(asked)
