"""The cache's values in Redis. Of each namespace there are three keys: values by key, times by key, and keys in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew_storage.records import CachedValue, CacheKey
from clew_storage.redis.link import Link

# KEYS: values, times, order, expiring. A value's time is the caller's, as everywhere in the port, so that Redis's own clock erases nothing.
_PUT = """
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], 0, ARGV[1])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[4])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
  redis.call('ZADD', KEYS[4], ARGV[3], ARGV[4])
end
"""
# 'living' erases whatever is there and tells whether it lived; 'expired' erases what is expired and tells whether it was.
_ERASE = """
local at = redis.call('HGET', KEYS[2], ARGV[1])
local over = at and tonumber(at) <= tonumber(ARGV[3])
if ARGV[4] == 'expired' and not over then return 0 end
local was = redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[2])
if ARGV[4] == 'living' and over then return 0 end
return was
"""
_LIST = """
local found, from, most, now = {}, ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
while #found < most do
  local some = redis.call('ZRANGEBYLEX', KEYS[2], from, ARGV[2], 'LIMIT', 0, 500)
  if #some == 0 then break end
  local times = redis.call('HMGET', KEYS[1], unpack(some))
  for place, key in ipairs(some) do
    if #found < most and (not times[place] or tonumber(times[place]) > now) then table.insert(found, key) end
  end
  from = '(' .. some[#some]
end
return found
"""


class RedisCache:
    """`Cache`."""

    def __init__(self, link: Link, prefix: str) -> None:
        self._link = link
        self._prefix = f"{prefix}:cache".encode()
        self._put, self._erase, self._list = map(link.client.register_script, (_PUT, _ERASE, _LIST))

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """As the port says."""
        until = "" if value.expires_at_ms is None else value.expires_at_ms
        async with self._link.asking() as client:
            await self._put(
                client=client, keys=self._keys(key), args=[key.key.encode(), value.value, until, _member(key)]
            )

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """As the port says."""
        values, times, *_ = self._keys(key)
        async with self._link.asking() as client, client.pipeline(transaction=True) as both:
            both.hget(values, key.key)
            both.hget(times, key.key)
            value, until = await both.execute()
        found = None if value is None else CachedValue(value, None if until is None else int(until))
        return found if found is not None and found.lives(now_ms) else None

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """As the port says."""
        return await self._erased(key, now_ms, "living")

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """As the port says: Redis compares bytes, whose order in UTF-8 is that of the code points."""
        begins = b"[" + prefix.encode() if after is None or after < prefix else b"(" + after.encode()
        # No byte of UTF-8 is ff, so that this follows everything that begins with the prefix.
        ends = b"(" + prefix.encode() + b"\xff"
        _, times, order, _ = self._keys(CacheKey(tenant, namespace, ""))
        async with self._link.asking() as client:
            found: list[bytes] = await self._list(
                client=client, keys=[times, order], args=[begins, ends, limit, now_ms]
            )
        return [each.decode() for each in found]

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """As the port says."""
        async with self._link.asking() as client:
            members: Any = await client.zrange(self._expiring, "-inf", now_ms, byscore=True, offset=0, num=limit)
        return sum([await self._erased(_named(member), now_ms, "expired") for member in members])

    async def _erased(self, key: CacheKey, now_ms: int, which: str) -> bool:
        async with self._link.asking() as client:
            return bool(
                await self._erase(
                    client=client, keys=self._keys(key), args=[key.key.encode(), _member(key), now_ms, which]
                )
            )

    @property
    def _expiring(self) -> bytes:
        return self._prefix + b":expiring"

    def _keys(self, key: CacheKey) -> list[bytes]:
        tenant, namespace = key.tenant.encode(), key.namespace.encode()
        # With the tenant's length before it no two pairs are one name.
        name = b"%d:%b%b" % (len(tenant), tenant, namespace)
        return [*(self._prefix + b":%b:%b" % (what, name) for what in (b"values", b"times", b"order")), self._expiring]


def _member(key: CacheKey) -> bytes:
    tenant, namespace = key.tenant.encode(), key.namespace.encode()
    return b"%d:%d:%b%b%b" % (len(tenant), len(namespace), tenant, namespace, key.key.encode())


def _named(member: bytes) -> CacheKey:
    tenant_size, namespace_size, rest = member.split(b":", 2)
    first = int(tenant_size)
    second = first + int(namespace_size)
    return CacheKey(rest[:first].decode(), rest[first:second].decode(), rest[second:].decode())
