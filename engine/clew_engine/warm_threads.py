"""Transcripts and states of warm threads, bounded by bytes. What is taken is out of here until it is put back."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from clew_engine.transcripts import Transcript
from clew_storage import ThreadKey

# A decoded message takes about this many times the bytes of its stored body.
_INFLATION = 4
_THREAD_BYTES = 2_000


class Mark(NamedTuple):
    """What names one content of a thread. Uid and version alone do not: an archive may bring back what was deleted."""

    uid: str
    epoch: int
    version: int


class WarmThreads:
    """Least recently used threads go first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._threads: OrderedDict[ThreadKey, tuple[Mark, Transcript, dict[str, bytes], int]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._threads)

    def take(self, key: ThreadKey, mark: Mark) -> tuple[Transcript, dict[str, bytes]] | None:
        """The thread as it was kept under this very mark; anything else that is kept of it is dropped."""
        found = self._threads.pop(key, None)
        if found is None:
            return None
        self.bytes -= found[3]
        return (found[1], found[2]) if found[0] == mark else None

    def put(self, key: ThreadKey, mark: Mark, transcript: Transcript, state: dict[str, bytes]) -> None:
        """Keep a thread, at the cost of those that were not used for longest."""
        self.drop(key)
        size = _THREAD_BYTES + _INFLATION * transcript.bytes + sum(len(k) + len(v) for k, v in state.items())
        self._threads[key] = (mark, transcript, state, size)
        self.bytes += size
        while self.bytes > self._limit and self._threads:
            _, dropped = self._threads.popitem(last=False)
            self.bytes -= dropped[3]

    def drop(self, key: ThreadKey) -> None:
        """Forget a thread."""
        found = self._threads.pop(key, None)
        if found is not None:
            self.bytes -= found[3]
