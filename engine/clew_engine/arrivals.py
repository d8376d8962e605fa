"""Calls on their way to an attempt, by request id: the same one is let through once at a time, and none that was withdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any

from clew_engine.errors import RunCancelledError
from clew_storage import ThreadKey

# As long as a request id is kept: whoever sends one again must not find that it was forgotten.
_KEPT_MS = 24 * 3600 * 1000
_KEPT_MOST = 10_000

Request = tuple[ThreadKey, str]


class Arrival:
    """One call, until it is known whether it began an attempt."""

    def __init__(self, request_id: str) -> None:
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._request_id = request_id
        self._waits: asyncio.Future[Any] | None = None
        self._begins = False
        self._withdrawn = False

    def begin(self) -> None:
        """The call opens its attempt now. Raises RunCancelledError where it was withdrawn before."""
        self.check()
        self._begins = True

    def check(self) -> None:
        """Raises RunCancelledError where the call was withdrawn."""
        if self._withdrawn:
            raise withdrawn(self._request_id)

    def waits_for(self, turn: asyncio.Future[Any]) -> None:
        """What the call waits for; it is cancelled when the call is withdrawn."""
        self._waits = turn
        if self._withdrawn:
            turn.cancel()

    def settle(self) -> None:
        """It is known. Harmless when called twice."""
        if not self.settled.done():
            self.settled.set_result(None)

    def withdraw(self) -> bool:
        """Keep the call from beginning an attempt; False where it is too late for that."""
        if self._begins:
            return False
        self._withdrawn = True
        if self._waits is not None:
            self._waits.cancel()
        self.settle()
        return True


class Arrivals:
    """All calls on their way that have a request id, and the ids that were withdrawn in the last 24 hours (the newest 10,000 of them).

    Withdrawn ids are in memory: a call that comes again after a restart of the server is a new one.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._under_way: dict[Request, Arrival] = {}
        self._withdrawn: dict[Request, int] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    @asynccontextmanager
    async def arriving(self, key: ThreadKey, request_id: str) -> AsyncGenerator[Arrival, None]:
        """One at a time of calls with the same request id, until the first is settled: the second finds its outcome.

        Raises RunCancelledError for one that was withdrawn.
        """
        request = (key, request_id)
        while request_id and (ahead := self._under_way.get(request)):
            await asyncio.wait({ahead.settled})
        if request_id and request in self._withdrawn:
            raise withdrawn(request_id)
        mine = Arrival(request_id)
        if request_id:
            self._under_way[request] = mine
            mine.settled.add_done_callback(lambda _: self._forget(request, mine))
        try:
            yield mine
        finally:
            mine.settle()

    async def withdraw(self, key: ThreadKey, request_id: str) -> bool:
        """Keep every call of that id, on its way or later, from beginning an attempt; False where none is on its way that can be kept from it.

        One that opens its attempt in this moment has done so, or has been refused, when this answers.
        """
        request = (key, request_id)
        kept = False
        while call := self._under_way.get(request):
            if call.withdraw():
                kept = True
                self._remember(request)
                self._forget(request, call)
            else:
                await asyncio.wait({call.settled})
        return kept

    def _forget(self, request: Request, call: Arrival) -> None:
        if self._under_way.get(request) is call:
            del self._under_way[request]

    def _remember(self, request: Request) -> None:
        now = self._now_ms()
        self._withdrawn[request] = now
        # The oldest are first.
        old = [each for each, at in self._withdrawn.items() if at < now - _KEPT_MS]
        over = len(self._withdrawn) - _KEPT_MOST
        for each in old or list(islice(self._withdrawn, max(0, over))):
            del self._withdrawn[each]


def withdrawn(request_id: str) -> RunCancelledError:
    """What a call is told that was withdrawn."""
    return RunCancelledError(
        "this request was withdrawn by a cancel before its turn came, and nothing was recorded; to send it all the same, use a new request id",
        request_id=request_id,
    )
