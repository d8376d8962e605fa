"""How much there is in a SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from clew_storage.codes import get_status
from clew_storage.records import Amount, Kind, StorageStats, ThreadKey
from clew_storage.sqlite.sessions import Session
from clew_storage.thread_sizes import largest_first

# Kinds are spelt as `Kind` has them. The length of a value stands at the beginning of its row, so that what lies on other pages is not read.
_SIZES = """
WITH sizes (kind, thread_no, n, bytes) AS MATERIALIZED (
    SELECT 'checkpoints', id >> 36, count(*), sum(length(body)) FROM checkpoints GROUP BY id >> 36
    UNION ALL SELECT 'messages', id >> 36, count(*), sum(length(body)) FROM messages GROUP BY id >> 36
    UNION ALL SELECT 'states', id >> 36, count(*), sum(length(change)) FROM state_changes GROUP BY id >> 36
    UNION ALL SELECT 'states', id >> 36, count(*), sum(length(change)) FROM folds GROUP BY id >> 36
    UNION ALL SELECT 'approvals', thread_no, count(*), sum(length(body) + coalesce(length(decision), 0))
        FROM approvals GROUP BY thread_no
    UNION ALL SELECT 'requests', iif(uid IS NULL, thread_no, NULL) AS owner, count(*), sum(length(reply))
        FROM requests GROUP BY owner
    UNION ALL SELECT 'cache', NULL, count(*), sum(length(namespace) + length(key) + length(value)) FROM cached_values
), owners (thread_no, bytes) AS MATERIALIZED (
    SELECT thread_no, sum(bytes) FROM (
        SELECT thread_no, bytes FROM sizes UNION ALL SELECT thread_no, 0 FROM threads WHERE uid IS NOT NULL
    ) GROUP BY thread_no
), biggest AS (
    -- Whatever SQLite thinks of their sizes: the other way round it would look through all owners for each thread.
    SELECT t.thread_no, t.tenant, t.thread_id FROM owners o CROSS JOIN threads t USING (thread_no)
    WHERE t.uid IS NOT NULL ORDER BY o.bytes DESC, t.tenant, t.thread_id LIMIT ?
)
SELECT NULL, NULL, kind, sum(n), coalesce(sum(bytes), 0) FROM sizes GROUP BY kind
UNION ALL
SELECT b.tenant, b.thread_id, s.kind, sum(s.n), sum(s.bytes) FROM biggest b LEFT JOIN sizes s USING (thread_no)
GROUP BY b.tenant, b.thread_id, s.kind
"""


class SqliteSizes:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def stats(self, *, largest: int) -> StorageStats:
        """See the port."""
        session = self._session()
        async with session.standing_still() as connection:
            if connection is None:
                return await session.readers.read(lambda only: _measure(only, largest))
            return await connection.run(lambda opened: _measure(opened, largest))


def _measure(connection: sqlite3.Connection, largest: int) -> StorageStats:
    kinds = dict.fromkeys(Kind, Amount())
    sizes: dict[ThreadKey, dict[Kind, Amount]] = {}
    for tenant, thread_id, kind, rows, size in connection.execute(_SIZES, (largest,)):
        if tenant is None:
            kinds[Kind(kind)] = Amount(rows, size)
            continue
        of_thread = sizes.setdefault(ThreadKey(tenant, thread_id), {})
        if kind is not None:
            of_thread[Kind(kind)] = Amount(rows, size)
    counted = connection.execute(
        "SELECT status, count(*) FROM threads WHERE uid IS NOT NULL GROUP BY status"
    ).fetchall()
    ((pages,), (page_size,)) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return StorageStats(
        threads=sum(count for _, count in counted),
        by_status={None if status is None else get_status(status): count for status, count in counted},
        kinds=kinds,
        largest=largest_first(sizes),
        database_bytes=pages * page_size,
    )
