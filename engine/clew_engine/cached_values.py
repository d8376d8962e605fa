"""The cache's rules: names of any text, times over 0, and values that expire at once and are erased later."""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING

from clew_engine.errors import ArgumentInvalidError, StateTooLargeError
from clew_engine.field_rules import MAX_CACHE_KEY, MAX_NAMESPACE, check_any_text
from clew_engine.paging import Page, page_size
from clew_engine.troubles import is_told
from clew_storage import CachedValue, CacheKey, StorageError

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# 100 years: within what every format of a time on the way can say.
MAX_TTL_S = 3_155_760_000
# A sweep leaves room for writers between its parts.
_SWEEP = 100
_SWEEP_EVERY_MS = 60_000
_log = logging.getLogger("clew.engine")


def cache_key(tenant: str, namespace: str, key: str) -> CacheKey:
    """The name of a value. Raises ArgumentInvalidError for what can be none."""
    check_any_text(namespace, "namespace", MAX_NAMESPACE, least=1)
    check_any_text(key, "key", MAX_CACHE_KEY, least=1)
    return CacheKey(tenant, namespace, key)


async def put_value(storage: Storage, key: CacheKey, value: bytes, *, ttl_ms: int | None) -> CachedValue:
    """Keep a value, which is strict JSON, for so many milliseconds or (None) for ever."""
    if len(value) > storage.tuning.state_limit:
        raise StateTooLargeError("the value", len(value), storage.tuning.state_limit, "value_json")
    if ttl_ms is not None and not 0 < ttl_ms <= MAX_TTL_S * 1000:
        raise ArgumentInvalidError(
            "ttl", "a time over 0 and up to 100 years; leave it out for a value that never expires"
        )
    now_ms = storage.now_ms()
    kept = CachedValue(value, None if ttl_ms is None else now_ms + ttl_ms)
    await storage.backend.cache.put_value(key, kept)
    if ttl_ms is not None and now_ms - storage.values_swept_at_ms >= _SWEEP_EVERY_MS:
        # Whoever fills the cache also sees to it that it does not grow.
        storage.values_swept_at_ms = now_ms
        storage.spawn(forget_expired(storage))
    return kept


async def get_value(storage: Storage, key: CacheKey) -> CachedValue | None:
    """A value, or None where there is none or its time is over."""
    return await storage.backend.cache.get_value(key, now_ms=storage.now_ms())


async def delete_value(storage: Storage, key: CacheKey) -> bool:
    """Erase a value; whether there was one."""
    return await storage.backend.cache.delete_value(key, now_ms=storage.now_ms())


async def list_keys(storage: Storage, tenant: str, namespace: str, *, prefix: str, size: int, token: str) -> Page[str]:
    """The keys of a namespace that begin with a text, by code point."""
    limit = page_size(size, 100, 1000)
    check_any_text(namespace, "namespace", MAX_NAMESPACE, least=1)
    check_any_text(prefix, "prefix", MAX_CACHE_KEY)
    listing = ("cache", tenant, namespace, prefix)
    place = await storage.page_tokens.place(token, listing)
    found = await storage.backend.cache.list_keys(
        tenant,
        namespace,
        prefix=prefix,
        after=_unescaped(str(place[0])) if place else None,
        limit=limit + 1,
        now_ms=storage.now_ms(),
    )
    if len(found) <= limit:
        return Page(found)
    return Page(found[:limit], await storage.page_tokens.make(listing, (_escaped(found[limit - 1]),)))


async def forget_expired(storage: Storage) -> int:
    """Erase the values of every tenant whose time is over, a part at a time; how many went."""
    went, now_ms = 0, storage.now_ms()
    try:
        while True:
            part = await storage.backend.cache.forget_expired(now_ms=now_ms, limit=_SWEEP)
            went += part
            if part < _SWEEP:
                return went
    except StorageError as error:
        if not is_told(error):
            _log.warning("expired values could not be erased: %s", error)
        return went


def _escaped(key: str) -> str:
    # As JSON a key of control characters would take six times its size in a token.
    return base64.b64encode(key.encode()).decode()


def _unescaped(place: str) -> str:
    return base64.b64decode(place).decode()
