"""What is appended to a thread, and what its writer is told."""

from __future__ import annotations

from msgspec import Struct

from clew_storage.records.approvals import ApprovalDecision, ApprovalRecord, ApprovalRedaction
from clew_storage.records.checkpoints import CheckpointRecord, CheckpointRedaction
from clew_storage.records.log import MessageRecord, StateChange
from clew_storage.records.requests import RequestRecord
from clew_storage.records.threads import ThreadInfo, ThreadKey, ThreadRecord


class Write(Struct, frozen=True):
    """One atomic append to a thread: all of it becomes durable, or none.

    `checkpoint.version` is `expected_version + 1`. `expected_version` 0 makes the thread (or gives one that has no
    checkpoint yet its first, which may have any version: a run that began elsewhere keeps its count); `info` is then
    its info. Of a thread that is there already `info` fills only what is empty. `fork_of` names the version whose line
    the checkpoint continues instead of the head's; `checkpoint.parent_version` is `fork_of`, or else
    `expected_version`. `erased` are ids of messages that are to be in no version any more, `redactions` what other
    rows that told of them say instead. `head_epoch` is the thread's epoch as the writer knows it at the head that it
    expects: what a backend remembers of that version counts only where it was remembered under the same one.
    """

    key: ThreadKey
    uid: str
    epoch: int
    expected_version: int
    checkpoint: CheckpointRecord
    info: ThreadInfo | None = None
    messages: tuple[MessageRecord, ...] = ()
    erased: tuple[str, ...] = ()
    redactions: tuple[CheckpointRedaction | ApprovalRedaction, ...] = ()
    state: StateChange | None = None
    approvals: tuple[ApprovalRecord, ...] = ()
    decisions: tuple[ApprovalDecision, ...] = ()
    void_approvals: bool = False
    request: RequestRecord | None = None
    fork_of: int | None = None
    head_epoch: int = 0


class Written(Struct, frozen=True):
    """What an append tells its writer: the thread as it now stands, and whether someone asked to cancel its run."""

    thread: ThreadRecord
    cancel_requested: bool
