"""Sizes of threads, put together from what a backend counted."""

from __future__ import annotations

from collections.abc import Mapping

from clew_storage.records import Amount, Kind, ThreadKey, ThreadSize


def largest_first(sizes: Mapping[ThreadKey, Mapping[Kind, Amount]]) -> tuple[ThreadSize, ...]:
    """Threads with the bytes of all their kinds, ties by tenant and id."""
    found = [ThreadSize(key, sum(amount.bytes for amount in kinds.values()), kinds) for key, kinds in sizes.items()]
    return tuple(sorted(found, key=lambda size: (-size.bytes, size.key.tenant, size.key.thread_id)))
