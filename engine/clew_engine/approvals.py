"""Approvals: questions to people, as records with their exact arguments, and the decisions that answer them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import orjson

from clew_engine import ids
from clew_engine.json_text import parse_stored
from clew_storage import ApprovalRecord, ApprovalState


class ApprovalKind(StrEnum):
    """What is asked: may this call run, what happened to this call, or what a program wants to know."""

    TOOL_CALL = "tool_call"
    PAUSE = "pause"
    TOOL_OUTCOME = "tool_outcome"


@dataclass(frozen=True, slots=True)
class Question:
    """An approval before it is written. `subject` is the call (or the pause) that it is about."""

    kind: ApprovalKind
    subject: str
    tool: str = ""
    arguments: str = ""
    prompt: str = ""
    schema: str = ""
    requested_by: str = ""
    expires_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """A question as people see it. `arguments` is the JSON text that will run; `digest` its SHA-256 in hex."""

    id: str
    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    kind: ApprovalKind
    state: ApprovalState
    subject: str
    tool: str
    arguments: str
    digest: str
    prompt: str
    schema: str
    requested_by: str
    created_at_ms: int
    expires_at_ms: int | None
    decided_by: str = ""
    decided_at_ms: int | None = None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "id": self.id,
            "thread_id": self.thread_id,
            "run_id": self.run_id,
            "version": self.version,
            "kind": self.kind.value,
            "state": self.state.value,
            "tool": self.tool,
            "tool_call_id": self.subject,
            "arguments": parse_stored(self.arguments) if self.arguments else None,
            "digest": self.digest,
            "requested_by": self.requested_by,
            "created_at_ms": self.created_at_ms,
            "expires_at_ms": self.expires_at_ms,
            "decided_by": self.decided_by,
            "decided_at_ms": self.decided_at_ms,
            "reason": self.reason,
        }


class Choice(StrEnum):
    """How a decision answers."""

    APPROVE = "approve"
    REJECT = "reject"
    VALUE = "value"
    RUN_AGAIN = "run_again"
    RESULT = "result"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to one approval. `arguments` replaces what runs (approve), `value` is JSON (value, result), `reason` is told to the model."""

    approval_id: str
    choice: Choice
    arguments: str | None = None
    value: str | None = None
    reason: str = ""


CHOICES = {
    ApprovalKind.TOOL_CALL: (Choice.APPROVE, Choice.REJECT),
    ApprovalKind.PAUSE: (Choice.VALUE, Choice.REJECT),
    ApprovalKind.TOOL_OUTCOME: (Choice.RUN_AGAIN, Choice.RESULT, Choice.FAIL),
}
STATE_AFTER = {
    Choice.APPROVE: ApprovalState.APPROVED,
    Choice.REJECT: ApprovalState.REJECTED,
    Choice.VALUE: ApprovalState.ANSWERED,
    Choice.RUN_AGAIN: ApprovalState.ANSWERED,
    Choice.RESULT: ApprovalState.ANSWERED,
    Choice.FAIL: ApprovalState.ANSWERED,
}


def digest_of(arguments: str) -> str:
    """SHA-256 of the arguments' bytes: what was shown is what runs."""
    return hashlib.sha256(arguments.encode()).hexdigest()


def encode_question(question: Question) -> bytes:
    """The JSON of an approval's row."""
    row = {
        "subject": question.subject,
        "tool": question.tool,
        "arguments": question.arguments,
        "digest": digest_of(question.arguments),
        "prompt": question.prompt,
        "schema": question.schema,
        "by": question.requested_by,
    }
    return orjson.dumps({name: value for name, value in row.items() if value})


def encode_decision(decision: Decision, actor: str) -> bytes:
    """The JSON of a decision, as the row and the continuation keep it."""
    row = {"choice": decision.choice.value, "by": actor, "reason": decision.reason}
    row = {name: value for name, value in row.items() if value}
    if decision.arguments is not None:
        row["arguments"] = decision.arguments
    if decision.value is not None:
        row["value"] = decision.value
    return orjson.dumps(row)


def view_approval(record: ApprovalRecord) -> Approval:
    """A stored approval as people see it."""
    body = orjson.loads(record.body)
    decision = orjson.loads(record.decision) if record.decision else {}
    return Approval(
        id=record.id,
        thread_id=record.key.thread_id,
        thread_uid=record.uid,
        run_id=ids.run_id(record.uid, record.run_version),
        version=record.version,
        kind=ApprovalKind(record.kind),
        state=record.state,
        subject=body.get("subject", ""),
        tool=body.get("tool", ""),
        arguments=body.get("arguments", ""),
        digest=body.get("digest", ""),
        prompt=body.get("prompt", ""),
        schema=body.get("schema", ""),
        requested_by=body.get("by", ""),
        created_at_ms=record.created_at_ms,
        expires_at_ms=record.expires_at_ms,
        decided_by=decision.get("by", ""),
        decided_at_ms=record.decided_at_ms,
        reason=decision.get("reason", ""),
    )


def as_asked(approval: Approval) -> Approval:
    """The approval as it was when it was asked, whatever became of it: the log says the same on every replay."""
    return replace(approval, state=ApprovalState.PENDING, decided_by="", decided_at_ms=None, reason="")
