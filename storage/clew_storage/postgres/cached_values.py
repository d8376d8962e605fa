"""The values of the cache on disk."""

from __future__ import annotations

from clew_storage.postgres.rows import Connection, get_text, put_text
from clew_storage.postgres.schemas import Schema
from clew_storage.records import CachedValue, CacheKey

_NAMED = "v.tenant = $1 AND v.namespace = $2 AND v.key = $3"
# Above every byte of UTF-8: no text that begins with a prefix comes after the prefix and this.
_END = b"\xff"


async def put_value(connection: Connection, schema: Schema, key: CacheKey, value: CachedValue) -> None:
    """See the port."""
    await connection.execute(
        schema.sql(
            "INSERT INTO clew.cached_values (tenant, namespace, key, expires_at_ms, value) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (tenant, namespace, key) "
            "DO UPDATE SET expires_at_ms = excluded.expires_at_ms, value = excluded.value"
        ),
        *_name(key), value.expires_at_ms, value.value,
    )  # fmt: skip


async def get_value(connection: Connection, schema: Schema, key: CacheKey, now_ms: int) -> CachedValue | None:
    """See the port."""
    row = await connection.fetchrow(
        schema.sql(f"SELECT v.value, v.expires_at_ms FROM clew.cached_values v WHERE {_NAMED}"), *_name(key)
    )
    found = None if row is None else CachedValue(*row)
    return found if found is not None and found.lives(now_ms) else None


async def delete_value(connection: Connection, schema: Schema, key: CacheKey, now_ms: int) -> bool:
    """See the port."""
    row = await connection.fetchrow(
        schema.sql(f"DELETE FROM clew.cached_values v WHERE {_NAMED} RETURNING v.value, v.expires_at_ms"), *_name(key)
    )
    return row is not None and CachedValue(*row).lives(now_ms)


async def list_keys(
    connection: Connection,
    schema: Schema,
    tenant: str,
    namespace: str,
    *,
    prefix: str,
    after: str | None,
    limit: int,
    now_ms: int,
) -> list[str]:
    """See the port."""
    first = put_text(prefix)
    # With a NUL at its end a text is the next one after itself.
    start = first if after is None else max(first, put_text(after) + b"\x00")
    rows = await connection.fetch(
        schema.sql(
            "SELECT v.key FROM clew.cached_values v WHERE v.tenant = $1 AND v.namespace = $2 AND v.key >= $3 AND v.key < $4 "
            "AND (v.expires_at_ms IS NULL OR v.expires_at_ms > $5) ORDER BY v.key LIMIT $6"
        ),
        tenant, put_text(namespace), start, first + _END, now_ms, limit,
    )  # fmt: skip
    return [get_text(key) for (key,) in rows]


async def forget_expired(connection: Connection, schema: Schema, now_ms: int, limit: int) -> int:
    """See the port."""
    erased = await connection.fetchval(
        schema.sql(
            "WITH old AS (SELECT v.tenant, v.namespace, v.key FROM clew.cached_values v WHERE v.expires_at_ms <= $1 "
            "LIMIT $2 FOR UPDATE SKIP LOCKED), "
            "erased AS (DELETE FROM clew.cached_values v USING old WHERE v.tenant = old.tenant "
            "AND v.namespace = old.namespace AND v.key = old.key RETURNING 1) SELECT count(*) FROM erased"
        ),
        now_ms, limit,
    )  # fmt: skip
    return int(erased)


def _name(key: CacheKey) -> tuple[str, bytes, bytes]:
    return key.tenant, put_text(key.namespace), put_text(key.key)
