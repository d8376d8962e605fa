"""Events of the log: a pure function of one entry, the same live and in every replay."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from clew_engine import ids
from clew_engine.approvals import Approval, as_asked, view_approval
from clew_engine.checkpoints import Body, Call, decode_body, view_checkpoint
from clew_engine.events import (
    ApprovalRequested,
    CheckpointWritten,
    Event,
    Payload,
    RunCompleted,
    RunFailed,
    RunStarted,
    RunSuspended,
    ToolCallFinished,
    ToolCallStarted,
)
from clew_engine.message_codec import decode_message
from clew_engine.messages import Message, Usage
from clew_engine.node_talks import NodeMessage, path_of, told_of
from clew_engine.replies import Reply
from clew_storage import ApprovalRecord, CheckpointRecord, LogEntry, MessageRecord, Source, Status, ThreadKey

_STARTS = (Source.INPUT, Source.DECISION, Source.RETRY)
_ENDS = (Source.STEP, Source.SUSPEND, Source.DECISION, Source.FAILURE)


def view_message(record: MessageRecord) -> Message:
    """A stored message."""
    return decode_message(
        record.body,
        message_id=record.id,
        created_at_ms=record.created_at_ms,
        position=record.position,
        version=record.version,
    )


def ends_attempt(record: CheckpointRecord) -> bool:
    """Whether a write ends its attempt, and so has a terminal event."""
    return record.status is not Status.IN_PROGRESS and record.source in _ENDS


class Logged(Struct, frozen=True):
    """An entry of the log with its stored texts read."""

    record: CheckpointRecord
    body: Body
    messages: tuple[Message, ...]
    approvals: Sequence[ApprovalRecord]


def read_entry(entry: LogEntry) -> Logged:
    """Read a stored entry."""
    messages = tuple(view_message(message) for message in entry.messages)
    return Logged(entry.checkpoint, decode_body(entry.checkpoint.body), messages, entry.approvals)


def events_of(key: ThreadKey, uid: str, entry: Logged, waiting: Sequence[Approval] = ()) -> list[Event]:
    """The events of one version in their order. `waiting` are the approvals that the entry's body names as still open."""
    record, body, messages = entry.record, entry.body, entry.messages
    # Other writes have memos too: a snapshot that was restored, what is about to begin.
    told = told_of(body.memos, record.created_at_ms, record.version) if record.source is Source.STEP else []
    replies = tuple(each for each in told if each.message.role == "assistant")
    asked = tuple(as_asked(view_approval(approval)) for approval in entry.approvals)
    payloads: list[Payload] = []
    if record.source in _STARTS:
        payloads.append(RunStarted(record.attempt))
    if record.source is not Source.UPDATE:
        payloads += [
            ToolCallFinished(result.tool_call_id, result.name, result.outcome, message)
            for message in messages
            for result in message.tool_results
        ]
    payloads += [
        ToolCallFinished(result.tool_call_id, result.name, result.outcome, each.message, each.node)
        for each in told
        for result in each.message.tool_results
    ]
    payloads += [ApprovalRequested(approval) for approval in asked]
    checkpoint = view_checkpoint(key.thread_id, uid, record, body)
    payloads.append(CheckpointWritten(checkpoint, messages, body.deleted, replies))
    payloads += [ToolCallStarted(call, path_of(call.id)) for call in _started(body, messages, replies)]
    if ends_attempt(record):
        payloads.append(terminal_of(key, uid, record, body, messages, (*asked, *waiting)))
    run = ids.run_id(uid, record.run_version)
    last = len(payloads) - 1
    return [
        Event(key.thread_id, uid, run, record.version, index == last, record.created_at_ms, payload)
        for index, payload in enumerate(payloads)
    ]


def terminal_of(
    key: ThreadKey,
    uid: str,
    record: CheckpointRecord,
    body: Body,
    messages: Sequence[Message],
    waiting: Sequence[Approval],
) -> Payload:
    """The terminal that a head which is not in progress stands for."""
    if record.status is Status.SUSPENDED:
        return RunSuspended(tuple(as_asked(approval) for approval in waiting))
    if record.status is Status.FAILED:
        assert body.failure is not None
        return RunFailed(body.failure, body.usage)
    spoken = [message for message in messages if message.role == "assistant"]
    return RunCompleted(
        Reply(
            thread_id=key.thread_id,
            thread_uid=uid,
            run_id=ids.run_id(uid, record.run_version),
            version=record.version,
            status=record.status,
            said=spoken[-1] if spoken else None,
            usage=body.usage or Usage(),
            steps=record.step,
        )
    )


def _started(body: Body, messages: Sequence[Message], inside: Sequence[NodeMessage]) -> list[Call]:
    if not body.started:
        return []
    all_of_it = (*messages, *(each.message for each in inside))
    written = {call.id: call for message in all_of_it for call in message.tool_calls}
    # The message that asked for a call may have been deleted since.
    return [
        call if call.name else Call(call.id, written[call.id].name, written[call.id].args)
        for call in body.started
        if call.name or call.id in written
    ]
