"""How long a broken stream is tried again, and how soon."""

from __future__ import annotations

import time

from clew.settings import Settings


class Patience:
    """Counts tries since the server was last heard. Times are seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._since = time.monotonic()
        self._limit = settings.connect_timeout
        self._tries = 0

    def heard(self) -> None:
        """Something came."""
        self._since, self._limit, self._tries = time.monotonic(), self._settings.rejoin_timeout, 0

    def pause(self) -> float | None:
        """How long to wait before the next try; None when there has been no word for too long."""
        first, most = self._settings.backoff
        pause = min(most, first * 2 ** min(self._tries, 16))
        self._tries += 1
        return pause if time.monotonic() + pause <= self._since + self._limit else None
