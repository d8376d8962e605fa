"""Page tokens: sealed with a secret of the database, so that every server on it reads them and nobody can make one up."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

from clew_engine.errors import ArgumentInvalidError
from clew_storage import CachedValue, CacheKey, StorageError

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# Callers' namespaces have a name, so none of them reaches this one.
_NAMESPACE = ""
_KEY_BYTES = 32
_SEAL_BYTES = 16
_MOST_KEYS = 100
_log = logging.getLogger("clew.engine")


class PageTokens:
    """The tokens of one database. Its secrets are the names of values in its cache, under a namespace that no caller can name.

    Servers that make their first token at the same time leave a secret each: the first in order seals, every one of them opens.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._keys: list[bytes] = []

    async def make(self, listing: Sequence[object], place: Sequence[int | str]) -> str:
        """A token for the place after which the next page begins; `listing` is what was asked for."""
        if not self._keys:
            await self._read()
        if not self._keys:
            await self._begin()
        return (
            base64.urlsafe_b64encode(orjson.dumps([_seal(self._keys[0], listing, place), *place])).decode().rstrip("=")
        )

    async def place(self, token: str, listing: Sequence[object]) -> tuple[int | str, ...] | None:
        """The place, or None for an empty token. Raises ArgumentInvalidError for one that was not given for this very listing."""
        if not token:
            return None
        seal, place = _opened(token)
        if not self._fits(seal, listing, place):
            # Another server may have left its secret since.
            await self._read()
            if not self._fits(seal, listing, place):
                raise _not_given()
        return tuple(place)

    def _fits(self, seal: object, listing: Sequence[object], place: Sequence[int | str]) -> bool:
        return isinstance(seal, str) and any(
            hmac.compare_digest(seal.encode(), _seal(key, listing, place).encode()) for key in self._keys
        )

    async def _read(self) -> None:
        names = await self._storage.backend.cache.list_keys(
            "", _NAMESPACE, prefix="", after=None, limit=_MOST_KEYS, now_ms=self._storage.now_ms()
        )
        self._keys = list(dict.fromkeys([*map(bytes.fromhex, names), *self._keys]))

    async def _begin(self) -> None:
        key = secrets.token_bytes(_KEY_BYTES)
        try:
            await self._storage.backend.cache.put_value(CacheKey("", _NAMESPACE, key.hex()), CachedValue(b"null"))
        except StorageError as error:
            # What can only be read is read on: its tokens are good for as long as it is open here.
            _log.debug("the secret of page tokens cannot be kept: %s", error)
            self._keys = [key]
        else:
            await self._read()


def check_token(token: str) -> None:
    """Raises ArgumentInvalidError for what is no token of any listing; empty is none."""
    if token:
        _opened(token)


def _opened(token: str) -> tuple[object, list[int | str]]:
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        seal, *place = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError):
        raise _not_given() from None
    if not place:
        raise _not_given()
    return seal, place


def _not_given() -> ArgumentInvalidError:
    return ArgumentInvalidError(
        "page_token", "take the next_page_token of the page before, unchanged, with the same filters and order"
    )


def _seal(key: bytes, listing: Sequence[object], place: Sequence[int | str]) -> str:
    sealed = orjson.dumps([[str(part) for part in listing], place])
    return base64.b64encode(hmac.digest(key, sealed, hashlib.sha256)[:_SEAL_BYTES]).decode()
