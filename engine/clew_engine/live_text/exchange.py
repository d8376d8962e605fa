"""Text across the servers of a database: who watches asks, and who runs tells."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clew_engine.live_text.frames import REQUESTS, decode_request
from clew_engine.live_text.listener import Listener
from clew_engine.live_text.speaker import Speaker
from clew_storage import Relay, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


class TextExchange:
    """A server's part in it. What it hears, also of how far calls are, is only as good as text is: provisional until its checkpoint comes, which is read from the log."""

    def __init__(self, storage: Storage, relay: Relay) -> None:
        self._storage = storage
        self._relay = relay
        self._name = secrets.token_hex(8)
        self._speaker = Speaker(storage, relay, self._name)
        self._listener = Listener(storage, relay, self._name)

    def open(self) -> None:
        """Take part, or take part again."""
        self._storage.hub.published = self._speaker.note
        self._relay.listen(REQUESTS, self._hear)

    @contextmanager
    def following(self, key: ThreadKey) -> Iterator[None]:
        """While somebody here watches the thread."""
        self._listener.follow(key)
        try:
            yield
        finally:
            self._listener.unfollow(key)

    def close(self) -> None:
        """Neither ask nor tell any more."""
        self._relay.forget(REQUESTS)
        self._speaker.close()
        self._listener.close()

    def _hear(self, payload: bytes | None) -> None:
        request = decode_request(payload) if payload is not None else None
        if request is not None and request.sender != self._name:
            self._speaker.heed(request)
