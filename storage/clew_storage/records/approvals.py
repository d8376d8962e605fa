"""Approvals: questions to people, and their ends."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from clew_storage.records.threads import ThreadKey


class ApprovalState(StrEnum):
    """Where an approval stands. Only a pending one can be decided, and only once."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    VOID = "void"


class ApprovalRecord(Struct, frozen=True):
    """A question to a person. `version` is the checkpoint that asked; `body` and `decision` are the engine's JSON."""

    id: str
    key: ThreadKey
    uid: str
    run_version: int
    version: int
    kind: str
    state: ApprovalState
    created_at_ms: int
    expires_at_ms: int | None
    body: bytes
    decided_at_ms: int | None = None
    decision: bytes | None = None


class ApprovalDecision(Struct, frozen=True):
    """The end of one pending approval."""

    approval_id: str
    state: ApprovalState
    decision: bytes


class ApprovalRedaction(Struct, frozen=True):
    """What a stored approval has as its body and its decision from now on; how it stands does not change."""

    approval_id: str
    body: bytes
    decision: bytes | None
