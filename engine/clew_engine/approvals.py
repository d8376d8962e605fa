"""Approvals: questions to people, as records with their exact arguments, and the decisions that answer them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from clew_engine import ids
from clew_engine.errors import StateInvalidError
from clew_engine.json_text import parse_stored
from clew_engine.node_talks import call_of
from clew_engine.state import encoded_value
from clew_storage import ApprovalRecord, ApprovalRedaction, ApprovalState


class ApprovalKind(StrEnum):
    """What is asked: may this call run, what happened to this call, or what a program wants to know."""

    TOOL_CALL = "tool_call"
    PAUSE = "pause"
    TOOL_OUTCOME = "tool_outcome"


class Question(Struct, frozen=True):
    """An approval before it is written. `subject` is the call (or the pause) that it is about."""

    kind: ApprovalKind
    subject: str
    tool: str = ""
    arguments: str = ""
    prompt: str = ""
    schema: str = ""
    requested_by: str = ""
    expires_at_ms: int | None = None


class Approval(Struct, frozen=True):
    """A question as people see it. `arguments_json` is exactly what would run, and `arguments_digest` its SHA-256 in hex.

    `decided_arguments_json` is what a person let run instead; empty where nothing was changed. All three are empty, like the reason, once the message that asked for the call was deleted. `subject` is the call (or the pause) that it is about.
    """

    id: str
    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    kind: ApprovalKind
    state: ApprovalState
    subject: str
    tool: str
    arguments_json: str
    arguments_digest: str
    prompt_json: str
    schema_json: str
    requested_by: str
    created_at_ms: int
    expires_at_ms: int | None
    decided_by: str = ""
    decided_at_ms: int | None = None
    reason: str = ""
    decided_arguments_json: str = ""

    @property
    def tool_call_id(self) -> str:
        """The tool call that it is about; empty for a pause."""
        return "" if self.kind is ApprovalKind.PAUSE else call_of(self.subject) or self.subject

    @property
    def arguments(self) -> Any:
        """The arguments parsed; None for a pause."""
        return _parsed(self.arguments_json)

    @property
    def decided_arguments(self) -> Any:
        """The arguments that a person let run instead, parsed; None where nothing was changed."""
        return _parsed(self.decided_arguments_json)

    @property
    def prompt(self) -> Any:
        """What a pause asks; None for the other kinds."""
        return _parsed(self.prompt_json)

    @property
    def schema(self) -> Any:
        """The JSON Schema that the answer to a pause must meet; None where any value will do."""
        return _parsed(self.schema_json)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "id": self.id,
            "thread_id": self.thread_id,
            "thread_uid": self.thread_uid,
            "run_id": self.run_id,
            "version": self.version,
            "kind": self.kind.value,
            "state": self.state.value,
            "tool": self.tool,
            "tool_call_id": self.tool_call_id,
            "arguments_json": self.arguments_json,
            "arguments_digest": self.arguments_digest,
            "requested_by": self.requested_by,
            "created_at_ms": self.created_at_ms,
            "expires_at_ms": self.expires_at_ms,
            "decided_by": self.decided_by,
            "decided_at_ms": self.decided_at_ms,
            "reason": self.reason,
            "decided_arguments_json": self.decided_arguments_json,
            "prompt_json": self.prompt_json,
            "schema_json": self.schema_json,
        }


class Choice(StrEnum):
    """How a decision answers."""

    APPROVE = "approve"
    REJECT = "reject"
    VALUE = "value"
    RUN_AGAIN = "run_again"
    RESULT = "result"
    FAIL = "fail"


class Decision(Struct, frozen=True):
    """An answer to one approval; made by `approve`, `reject`, `answer`, `run_again`, `result` and `fail`.

    `arguments` is the JSON object that replaces what runs (approve), `value` is JSON (value, result), `reason` is told to the model. `output` is the
    whole of a result that a worker brought, where a JSON value cannot say it.
    """

    approval_id: str
    choice: Choice
    arguments: str | None = None
    value: str | None = None
    reason: str = ""
    output: str | None = None

    @classmethod
    def approve(cls, approval_id: str, arguments: dict[str, Any] | None = None) -> Decision:
        """Let a tool call run: as asked, or with other arguments."""
        text = None if arguments is None else arguments_text(arguments)
        return cls(approval_id, Choice.APPROVE, arguments=text)

    @classmethod
    def reject(cls, approval_id: str, reason: str = "") -> Decision:
        """Keep a tool call from running, or leave a pause without an answer; the model reads the reason."""
        return cls(approval_id, Choice.REJECT, reason=reason)

    @classmethod
    def answer(cls, approval_id: str, value: Any) -> Decision:
        """Give a pause its value."""
        return cls(approval_id, Choice.VALUE, value=encoded_value(value, "decisions.value_json").decode())

    @classmethod
    def run_again(cls, approval_id: str) -> Decision:
        """Start a call whose outcome is not known again, knowing that it may have taken effect."""
        return cls(approval_id, Choice.RUN_AGAIN)

    @classmethod
    def result(cls, approval_id: str, value: Any) -> Decision:
        """Say that a call whose outcome is not known took effect, and what its result is."""
        return cls(approval_id, Choice.RESULT, value=encoded_value(value, "decisions.outcome.result_json").decode())

    @classmethod
    def fail(cls, approval_id: str, reason: str) -> Decision:
        """Say that a call whose outcome is not known failed; the model reads the reason."""
        return cls(approval_id, Choice.FAIL, reason=reason)


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


def arguments_text(arguments: Any) -> str:
    """The JSON of a tool call's arguments. Raises StateInvalidError for what is no plain JSON object."""
    field = "decisions.approve.arguments_json"
    if not isinstance(arguments, dict):
        raise StateInvalidError(field, f"a dict is due here, not {type(arguments).__name__}")
    return encoded_value(arguments, field).decode()


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
        arguments_json=body.get("arguments", ""),
        arguments_digest=body.get("digest", ""),
        prompt_json=body.get("prompt", ""),
        schema_json=body.get("schema", ""),
        requested_by=body.get("by", ""),
        created_at_ms=record.created_at_ms,
        expires_at_ms=record.expires_at_ms,
        decided_by=decision.get("by", ""),
        decided_at_ms=record.decided_at_ms,
        reason=decision.get("reason", ""),
        decided_arguments_json=decision.get("arguments", ""),
    )


def late_of(pending: Sequence[ApprovalRecord], now_ms: int) -> list[ApprovalRecord]:
    """What of it has expired."""
    return [record for record in pending if record.expires_at_ms is not None and record.expires_at_ms <= now_ms]


def unanswered(record: ApprovalRecord) -> Decision:
    """What counts as decided of an approval that has expired."""
    choice = Choice.FAIL if record.kind == ApprovalKind.TOOL_OUTCOME else Choice.REJECT
    return Decision(record.id, choice, reason="expired: nobody answered in time")


def about(record: ApprovalRecord) -> str:
    """The call (or the pause) that a stored approval is about."""
    return str(orjson.loads(record.body).get("subject", ""))


def without_content(record: ApprovalRecord) -> ApprovalRedaction:
    """An approval that says who asked and decided about which call, and nothing of what the call was to do or of what people said."""
    body, decision = orjson.loads(record.body), orjson.loads(record.decision) if record.decision else None
    kept = {name: body[name] for name in ("subject", "tool", "by") if name in body}
    said = None if decision is None else {name: decision[name] for name in ("choice", "by") if name in decision}
    return ApprovalRedaction(record.id, orjson.dumps(kept), None if said is None else orjson.dumps(said))


def as_asked(approval: Approval) -> Approval:
    """The approval as it was when it was asked, whatever became of it: the log says the same on every replay."""
    return replace(
        approval, state=ApprovalState.PENDING, decided_by="", decided_at_ms=None, reason="", decided_arguments_json=""
    )


def _parsed(text: str) -> Any:
    """The value; None for no text. What is no JSON (a model may have written it) comes back as its text."""
    if not text:
        return None
    try:
        return parse_stored(text)
    except ValueError:
        return text
