"""Which threads, and what of them, may go."""

from __future__ import annotations

from msgspec import Struct

from clew_storage.records.checkpoints import CheckpointRedaction, Status
from clew_storage.records.threads import ThreadKey


class IdleFilter(Struct, frozen=True):
    """Which of the threads that nobody holds or waits for to list; what is empty or None means any.

    `before_ms`: neither written to nor changed since. A thread with a pending approval counts as suspended, whatever its
    head says. `longer_than`: there are more than so many versions from the oldest that is stored to the head.
    """

    statuses: tuple[Status, ...] = ()
    before_ms: int | None = None
    apps: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    longer_than: int = 0


class Trim(Struct, frozen=True):
    """Where a thread's stored log is to begin: at `oldest_version`, which is on the line of the head at `head_version`.

    `redactions` are what checkpoints that stay have as their bodies from then on.
    """

    key: ThreadKey
    uid: str
    head_version: int
    oldest_version: int
    redactions: tuple[CheckpointRedaction, ...] = ()
