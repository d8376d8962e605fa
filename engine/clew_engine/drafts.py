"""A write before it has its version: what a program or command wants to be durable, all or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from clew_engine import ids
from clew_engine.approvals import Question, encode_question
from clew_engine.checkpoints import Body, Call, Failure, Memo, Start, encode_body
from clew_engine.errors import StateTooLargeError
from clew_engine.message_codec import encode_message
from clew_engine.messages import Message, Part, Provider, Role, Usage
from clew_storage import (
    ApprovalDecision,
    ApprovalRecord,
    ApprovalRedaction,
    ApprovalState,
    CheckpointRecord,
    CheckpointRedaction,
    MessageRecord,
    Source,
    StateChange,
    Status,
    ThreadKey,
)

# What a caller gave that a message was too large in.
_FIELDS = {Source.INPUT: "input", Source.UPDATE: "content"}


class DraftMessage(Struct, frozen=True):
    """A message to write.

    `id` None means the next of this version, `position` None the next free place; `reserve` keeps places after it for results.
    """

    role: Role
    content: tuple[Part, ...]
    id: str | None = None
    position: int | None = None
    number: int | None = None
    reserve: int = 0
    model: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    provider: Provider | None = None
    metadata: Mapping[str, Any] | None = None


class Draft(Struct, frozen=True):
    """A checkpoint to write. What is None or empty follows from the head before it.

    `edits` are messages of the line as they are to be now, in their places; `erased` those, of whatever
    line, that are to be in no version any more; `redactions` what other rows that told of them say instead.
    """

    source: Source
    status: Status = Status.IN_PROGRESS
    next: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[DraftMessage, ...] = ()
    edits: tuple[Message, ...] = ()
    erased: tuple[Message, ...] = ()
    redactions: tuple[CheckpointRedaction | ApprovalRedaction, ...] = ()
    state: StateChange | None = None
    started: tuple[Call, ...] = ()
    questions: tuple[Question, ...] = ()
    decisions: tuple[ApprovalDecision, ...] = ()
    waiting: tuple[str, ...] = ()
    void_approvals: bool = False
    failure: Failure | None = None
    usage: Usage | None = None
    partial: int | None = None
    memos: tuple[Memo, ...] = ()
    left_behind: tuple[Start, ...] = ()
    step: int | None = None
    new_run: bool = False
    new_attempt: bool = False
    fork_of: CheckpointRecord | None = None


class Built(Struct, frozen=True):
    """A draft with its version: rows for storage, and its messages as they will be read."""

    checkpoint: CheckpointRecord
    messages: tuple[Message, ...]
    records: tuple[MessageRecord, ...]
    approvals: tuple[ApprovalRecord, ...]


def build(
    draft: Draft, key: ThreadKey, uid: str, head: CheckpointRecord | None, now_ms: int, message_limit: int
) -> Built:
    """Give a draft the version after the head's. Raises StateTooLargeError for a message over the limit; nothing was taken then."""
    version = head.version + 1 if head else 1
    base = draft.fork_of or head
    added, next_position = _place(draft, version, base.next_position if base else 0, now_ms)
    messages = (*added, *(replace(message, version=version) for message in draft.edits))
    run_version = version if draft.new_run or base is None else base.run_version
    asked = any(message.tool_calls for message in messages)
    body = Body(
        draft.next,
        draft.started,
        draft.waiting,
        draft.failure,
        draft.usage,
        draft.partial,
        draft.memos,
        deleted=tuple(message.id for message in draft.erased),
        left_behind=draft.left_behind,
    )
    checkpoint = CheckpointRecord(
        version=version,
        parent_version=base.version if base else 0,
        run_version=run_version,
        attempt=_attempt(draft, base),
        status=draft.status,
        source=draft.source,
        step=draft.step if draft.step is not None else (base.step if base else 0),
        next_position=next_position,
        created_at_ms=now_ms,
        body=encode_body(body, messages_hold_calls=asked),
    )
    records = tuple(_record(message, message_limit, _FIELDS.get(draft.source, "message")) for message in messages)
    approvals = tuple(
        ApprovalRecord(
            id=ids.approval_id(uid, version, number),
            key=key,
            uid=uid,
            run_version=run_version,
            version=version,
            kind=question.kind.value,
            state=ApprovalState.PENDING,
            created_at_ms=now_ms,
            expires_at_ms=question.expires_at_ms,
            body=encode_question(question),
        )
        for number, question in enumerate(draft.questions)
    )
    return Built(checkpoint, messages, records, approvals)


def _attempt(draft: Draft, base: CheckpointRecord | None) -> int:
    if draft.new_run or base is None:
        return 1
    return base.attempt + 1 if draft.new_attempt else base.attempt


def _place(draft: Draft, version: int, next_position: int, now_ms: int) -> tuple[tuple[Message, ...], int]:
    placed: list[Message] = []
    for number, message in enumerate(draft.messages):
        position = next_position if message.position is None else message.position
        next_position = max(next_position, position + 1 + message.reserve)
        placed.append(
            Message(
                id=message.id or ids.message_id(version, number if message.number is None else message.number),
                role=message.role,
                content=message.content,
                created_at_ms=now_ms,
                position=position,
                version=version,
                model=message.model,
                usage=message.usage,
                finish_reason=message.finish_reason,
                provider=message.provider,
                metadata=message.metadata,
            )
        )
    return tuple(placed), next_position


def _record(message: Message, limit: int, field: str) -> MessageRecord:
    body = encode_message(message)
    if len(body) > limit:
        raise StateTooLargeError("the message", len(body), limit, field)
    return MessageRecord(message.id, message.version, message.position, message.role, message.created_at_ms, body)
