"""How much there is in a schema."""

from __future__ import annotations

from collections.abc import Callable

from clew_storage.codes import get_status
from clew_storage.postgres.rows import Connection
from clew_storage.postgres.schemas import Schema
from clew_storage.postgres.sessions import Session
from clew_storage.records import Amount, Kind, StorageStats, ThreadKey
from clew_storage.thread_sizes import largest_first

_PATIENCE_S = 3600.0
# Kinds are spelt as `Kind` has them. The length of a value stands in its row, so that what is stored apart or compressed is not read.
_SIZES = """
WITH sizes (kind, tenant, thread_id, n, bytes) AS MATERIALIZED (
    SELECT 'checkpoints', tenant, thread_id, count(*), sum(octet_length(body)) FROM clew.checkpoints GROUP BY 2, 3
    UNION ALL SELECT 'messages', tenant, thread_id, count(*), sum(octet_length(body)) FROM clew.messages GROUP BY 2, 3
    UNION ALL SELECT 'states', tenant, thread_id, count(*), sum(octet_length(change)) FROM clew.state_changes GROUP BY 2, 3
    UNION ALL SELECT 'states', tenant, thread_id, count(*), sum(octet_length(change)) FROM clew.folds GROUP BY 2, 3
    UNION ALL SELECT 'approvals', tenant, thread_id, count(*), sum(octet_length(body) + coalesce(octet_length(decision), 0))
        FROM clew.approvals GROUP BY 2, 3
    UNION ALL SELECT 'requests', tenant, CASE WHEN uid IS NULL THEN thread_id END, count(*), sum(octet_length(reply))
        FROM clew.requests GROUP BY 2, 3
    UNION ALL SELECT 'cache', NULL, NULL, count(*),
        sum(octet_length(namespace) + octet_length(key) + octet_length(value)) FROM clew.cached_values
), biggest AS (
    SELECT t.tenant, t.thread_id FROM clew.threads t LEFT JOIN sizes s USING (tenant, thread_id)
    WHERE t.uid IS NOT NULL GROUP BY 1, 2 ORDER BY coalesce(sum(s.bytes), 0) DESC, 1, 2 LIMIT $1
)
SELECT NULL, NULL, kind, sum(n)::bigint, coalesce(sum(bytes), 0)::bigint FROM sizes GROUP BY kind
UNION ALL
SELECT b.tenant, b.thread_id, s.kind, sum(s.n)::bigint, sum(s.bytes)::bigint FROM biggest b
LEFT JOIN sizes s USING (tenant, thread_id) GROUP BY 1, 2, 3
"""
_STATUSES = "SELECT t.status, count(*) FROM clew.threads t WHERE t.uid IS NOT NULL GROUP BY 1"
_ON_DISK = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
"""


class PostgresSizes:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def stats(self, *, largest: int) -> StorageStats:
        """See the port."""
        session = self._session()
        async with session.standing_still() as connection:
            return await _measure(connection, session.schema, largest)


async def _measure(connection: Connection, schema: Schema, largest: int) -> StorageStats:
    kinds = dict.fromkeys(Kind, Amount())
    sizes: dict[ThreadKey, dict[Kind, Amount]] = {}
    # A large database takes longer than any call of a thread may.
    for tenant, thread_id, kind, rows, size in await connection.fetch(schema.sql(_SIZES), largest, timeout=_PATIENCE_S):
        if tenant is None:
            kinds[Kind(kind)] = Amount(rows, size)
            continue
        of_thread = sizes.setdefault(ThreadKey(tenant, thread_id), {})
        if kind is not None:
            of_thread[Kind(kind)] = Amount(rows, size)
    counted = await connection.fetch(schema.sql(_STATUSES), timeout=_PATIENCE_S)
    return StorageStats(
        threads=sum(count for _, count in counted),
        by_status={None if status is None else get_status(status): count for status, count in counted},
        kinds=kinds,
        largest=largest_first(sizes),
        database_bytes=await connection.fetchval(_ON_DISK, schema.name),
    )
