"""The in-process handle on the cache: the same verbs as the client's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew_engine import cached_values
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import parse_stored
from clew_engine.state import encoded_value

if TYPE_CHECKING:
    from clew_engine.storage import Storage


class Cache:
    """JSON values by namespace and key, each for ever or for a time. Namespaces and keys are any text, in which no character has a meaning."""

    def __init__(self, storage: Storage, tenant: str = "") -> None:
        self.storage = storage
        self._tenant = tenant

    @checked
    async def put(self, namespace: str, key: str, value: Any, *, ttl: float | None = None) -> None:
        """Keep a value for `ttl` seconds (None: for ever), in the place of the one that was under the key."""
        name = cached_values.cache_key(self._tenant, namespace, key)
        text = encoded_value(value, "value_json")
        async with self.storage.calling(None):
            await cached_values.put_value(self.storage, name, text, ttl_ms=None if ttl is None else _milliseconds(ttl))

    @checked
    async def get(self, namespace: str, key: str, default: Any = None) -> Any:
        """The value, or `default` where there is none or its time is over."""
        name = cached_values.cache_key(self._tenant, namespace, key)
        async with self.storage.calling(None):
            found = await cached_values.get_value(self.storage, name)
        return default if found is None else parse_stored(found.value)

    @checked
    async def delete(self, namespace: str, key: str) -> bool:
        """Delete a value; True if there was one."""
        name = cached_values.cache_key(self._tenant, namespace, key)
        async with self.storage.calling(None):
            return await cached_values.delete_value(self.storage, name)

    @checked
    async def keys(self, namespace: str, prefix: str = "", *, limit: int | None = None) -> list[str]:
        """The keys of a namespace that begin with a text, in the order of their code points; with a limit the first ones."""
        if limit is not None and limit < 1:
            raise ArgumentInvalidError("limit", "at least 1, or None for all")
        found: list[str] = []
        token = ""
        async with self.storage.calling(None):
            while limit is None or len(found) < limit:
                size = 1000 if limit is None else min(1000, limit - len(found))
                page = await cached_values.list_keys(
                    self.storage, self._tenant, namespace, prefix=prefix, size=size, token=token
                )
                found += page.items
                token = page.next_token
                if not token:
                    break
        return found

    put_sync = blocking(put)
    get_sync = blocking(get)
    delete_sync = blocking(delete)
    keys_sync = blocking(keys)


def _milliseconds(seconds: float) -> int:
    """Whole ones; a part of one counts as one, and less than a nanosecond as nothing, as on the wire."""
    try:
        return -(-round(seconds * 1e9) // 1_000_000)
    except (OverflowError, TypeError, ValueError):
        raise ArgumentInvalidError("ttl", f"{seconds!r} is no number of seconds") from None
