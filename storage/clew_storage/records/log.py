"""What a version of the log brings beside its checkpoint, and a version with all of it."""

from __future__ import annotations

from msgspec import Struct, field

from clew_storage.records.approvals import ApprovalRecord
from clew_storage.records.checkpoints import CheckpointRecord


class MessageRecord(Struct, frozen=True):
    """One message as written by checkpoint `version`; the newest row of a position on a line is the message there."""

    id: str
    version: int
    position: int
    role: str
    created_at_ms: int
    body: bytes


class StateChange(Struct, frozen=True):
    """What one checkpoint changes in the state: first `removed`, then `replaced`, then `appended`.

    Values are the JSON bytes as sent. Replacing keeps a key's place in the order; a removed key that comes back comes
    last. Elements are appended to a JSON array; what is missing, or is no array, counts as an empty one (whoever minds
    checks before writing: a stored change must never be one that cannot be read back).
    """

    replaced: dict[str, bytes] = field(default_factory=dict)
    appended: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


class LogEntry(Struct, frozen=True):
    """One version of the log with what that write brought, in the order given.

    Approvals stand as they are now, not as they were asked.
    """

    checkpoint: CheckpointRecord
    messages: tuple[MessageRecord, ...]
    approvals: tuple[ApprovalRecord, ...]
