"""What a storage has beside its database, and the part that it takes in text across servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_engine.errors import ArgumentInvalidError
from clew_engine.live_text.exchange import TextExchange
from clew_storage import Beside, StorageRefused, open_redis

if TYPE_CHECKING:
    from clew_engine.storage import Storage


def open_beside(redis: object) -> Beside | None:
    """Redis, where something was given for it. Raises ArgumentInvalidError for what is no Redis."""
    if redis is None:
        return None
    try:
        return open_redis(redis)
    except StorageRefused as error:
        raise ArgumentInvalidError("redis", str(error)) from None


def exchange_of(storage: Storage) -> TextExchange | None:
    """Text goes to and fro where other servers may be at work, and there is a way to them."""
    if storage.beside is None or not storage.backend.shared:
        return None
    return TextExchange(storage, storage.beside.relay)
