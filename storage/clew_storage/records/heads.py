"""How a thread stands: all of it, or at a glance."""

from __future__ import annotations

from msgspec import Struct

from clew_storage.records.approvals import ApprovalRecord
from clew_storage.records.checkpoints import CheckpointRecord
from clew_storage.records.leases import Grant
from clew_storage.records.threads import ThreadRecord


class Head(Struct, frozen=True):
    """A thread with its newest checkpoint (None before the first) and the version ranges, oldest first, of its line.

    `pending` are the approvals that wait at the head, in the order they were asked. `cancel_requested`: someone asked to
    cancel the attempt that the head belongs to. `oldest_version` is where the stored log begins once it was trimmed, 0
    where it never was; of what was trimmed every version counts as one of the line.
    """

    thread: ThreadRecord
    checkpoint: CheckpointRecord | None
    line: tuple[tuple[int, int], ...]
    pending: tuple[ApprovalRecord, ...]
    cancel_requested: bool
    oldest_version: int = 0


class Glance(Struct, frozen=True):
    """How a thread stands at a moment, for whoever only wants to know whether to look closer.

    `uid` is empty, and `head_version` 0, where there is no thread; the lease may be held all the same. `holder` is the
    grant that holds it, and `waiting` how many wait for it, on whatever server; `cancel_requested` as in `Head`, `epoch` as
    in `ThreadRecord`.
    """

    uid: str = ""
    head_version: int = 0
    cancel_requested: bool = False
    holder: Grant | None = None
    waiting: int = 0
    epoch: int = 0
