"""The port's `Sizes`."""

from __future__ import annotations

from typing import Protocol

from clew_storage.records import StorageStats


class Sizes(Protocol):
    """How much there is of everything."""

    async def stats(self, *, largest: int) -> StorageStats:
        """Count the whole database, and name that many of its largest threads: by bytes, ties by tenant and id.

        Bytes are those of payloads: the bodies of checkpoints and messages; changes of states with their folds, as they are
        stored; bodies and decisions of approvals; replies of requests; namespaces, keys and values of the cache, also of those
        that have expired. A copy's rows are its own. Requests of deleted threads are counted, and belong to no thread. No
        payload is read for it, but every row is counted: it takes time in proportion to them, and holds nobody up.
        """
