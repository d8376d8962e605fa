"""How calls stand that somebody in this process waits for: one question to the exchange for all of them, again and again while there are any."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_engine.troubles import Trouble
from clew_storage import CallName, CallSight, StorageError

if TYPE_CHECKING:
    from clew_engine.storage import Storage


@dataclass(frozen=True, slots=True)
class _Round:
    """What was asked about, and what is known of it."""

    asked: Collection[CallName]
    sights: Mapping[CallName, CallSight]


class CallBoard:
    """Looks at once when this process knows of a change (`hint`), and otherwise soon: leases run out, and other servers do things, without a word."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._followed: Counter[CallName] = Counter()
        self._hint = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._round: asyncio.Future[_Round] | None = None
        self._trouble = Trouble("calls of tools that workers run could not be looked at")

    def hint(self) -> None:
        """Something may have changed."""
        self._hint.set()

    @contextmanager
    def following(self, call: CallName) -> Iterator[None]:
        """While somebody waits for the call."""
        self._followed[call] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._look(), name="clew-calls")
        try:
            yield
        finally:
            self._followed[call] -= 1
            if not self._followed[call]:
                del self._followed[call]

    async def sight(self, call: CallName) -> CallSight | None:
        """How a followed call stands when it is looked at next; None where it is not known."""
        while True:
            if self._round is None:
                self._round = asyncio.get_running_loop().create_future()
            told = await asyncio.shield(self._round)
            if call in told.asked:
                return told.sights.get(call)

    async def close(self) -> None:
        """Look no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _look(self) -> None:
        while self._followed:
            self._hint.clear()
            asked = frozenset(self._followed)
            try:
                sights = await self._storage.backend.exchange.sight(tuple(asked), now_ms=self._storage.now_ms())
            except StorageError as error:
                self._trouble.met(error)
            else:
                self._trouble.over()
                told, self._round = self._round, None
                if told is not None:
                    told.set_result(_Round(asked, sights))
            try:
                async with asyncio.timeout(self._storage.tuning.look_s):
                    await self._hint.wait()
            except TimeoutError:
                pass
