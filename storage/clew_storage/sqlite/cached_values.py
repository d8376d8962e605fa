"""The values of the cache on disk."""

from __future__ import annotations

import sqlite3

from clew_storage.records import CachedValue, CacheKey

_NAMED = "tenant = ? AND namespace = ? AND key = ?"
_LIVES = "(expires_at_ms IS NULL OR expires_at_ms > ?)"
# Above every byte of UTF-8: no text that begins with a prefix comes after the prefix and this.
_END = b"\xff"


def put_value(connection: sqlite3.Connection, key: CacheKey, value: CachedValue) -> None:
    """See the port."""
    connection.execute(
        "INSERT INTO cached_values (tenant, namespace, key, expires_at_ms, value) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (tenant, namespace, key) DO UPDATE SET expires_at_ms = excluded.expires_at_ms, value = excluded.value",
        (*_name(key), value.expires_at_ms, value.value),
    )


def get_value(connection: sqlite3.Connection, key: CacheKey, now_ms: int) -> CachedValue | None:
    """See the port."""
    row = connection.execute(
        f"SELECT value, expires_at_ms FROM cached_values WHERE {_NAMED} AND {_LIVES}",  # noqa: S608 - the conditions are ours
        (*_name(key), now_ms),
    ).fetchone()
    return None if row is None else CachedValue(*row)


def delete_value(connection: sqlite3.Connection, key: CacheKey, now_ms: int) -> bool:
    """See the port."""
    deleted = connection.execute(
        f"DELETE FROM cached_values WHERE {_NAMED} RETURNING {_LIVES}",  # noqa: S608 - the conditions are ours
        (*_name(key), now_ms),
    ).fetchall()
    return deleted == [(1,)]


def list_keys(
    connection: sqlite3.Connection,
    tenant: str,
    namespace: str,
    *,
    prefix: str,
    after: str | None,
    limit: int,
    now_ms: int,
) -> list[str]:
    """See the port."""
    first = prefix.encode()
    # With a NUL at its end a text is the next one after itself.
    start = first if after is None else max(first, after.encode() + b"\x00")
    rows = connection.execute(
        "SELECT key FROM cached_values WHERE tenant = ? AND namespace = ? AND key >= ? AND key < ? "  # noqa: S608
        f"AND {_LIVES} ORDER BY key LIMIT ?",
        (tenant, namespace.encode(), start, first + _END, now_ms, limit),
    )
    return [key.decode() for (key,) in rows]


def forget_expired(connection: sqlite3.Connection, now_ms: int, limit: int) -> int:
    """See the port."""
    return connection.execute(
        "DELETE FROM cached_values WHERE value_no IN "
        "(SELECT value_no FROM cached_values WHERE expires_at_ms <= ? LIMIT ?)",
        (now_ms, limit),
    ).rowcount


def _name(key: CacheKey) -> tuple[str, bytes, bytes]:
    return key.tenant, key.namespace.encode(), key.key.encode()
