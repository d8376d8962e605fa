"""How much there is in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from clew_storage.memory.tables import StoredThread, Tables
from clew_storage.records import Amount, Kind, StorageStats, ThreadKey
from clew_storage.state_changes import encode_delta
from clew_storage.thread_sizes import largest_first


class MemorySizes:
    """Implements the port's `Sizes`."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    async def stats(self, *, largest: int) -> StorageStats:
        """See the port."""
        tables = self._tables()
        replies: dict[tuple[ThreadKey, str], list[int]] = {}
        for (key, _), request in tables.requests.items():
            replies.setdefault((key, request.uid), []).append(len(request.reply))
        sizes = largest_first(
            {key: _kinds(thread, replies.get((key, thread.record.uid), ())) for key, thread in tables.threads.items()}
        )
        values = [
            len(value.value) + len(name.namespace.encode()) + len(name.key.encode())
            for name, value in tables.values.items()
        ]
        kinds = {kind: _sum(size.kinds.get(kind, Amount()) for size in sizes) for kind in Kind}
        kinds[Kind.REQUESTS] = _amount(len(request.reply) for request in tables.requests.values())
        kinds[Kind.CACHE] = _amount(values)
        return StorageStats(
            threads=len(sizes),
            by_status=Counter(thread.record.head_status for thread in tables.threads.values()),
            kinds=kinds,
            largest=sizes[:largest],
            database_bytes=None,
        )


def _kinds(thread: StoredThread, replies: Iterable[int]) -> dict[Kind, Amount]:
    kinds = {
        Kind.CHECKPOINTS: _amount(len(each.body) for each in thread.checkpoints.values()),
        Kind.MESSAGES: _amount(len(each.body) for messages in thread.messages.values() for each in messages),
        Kind.STATES: _amount(len(encode_delta(change)) for change in thread.changes.values()),
        Kind.APPROVALS: _amount(len(each.body) + len(each.decision or b"") for each in thread.approvals.values()),
        Kind.REQUESTS: _amount(replies),
    }
    return {kind: amount for kind, amount in kinds.items() if amount.rows}


def _amount(sizes: Iterable[int]) -> Amount:
    found = list(sizes)
    return Amount(len(found), sum(found))


def _sum(amounts: Iterable[Amount]) -> Amount:
    found = list(amounts)
    return Amount(sum(amount.rows for amount in found), sum(amount.bytes for amount in found))
