"""Events of the wire as the client's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew import events
from clew.json_text import decode_json
from clew.messages import message_of, tool_call_of, usage_of
from clew.records import approval_of, checkpoint_of, reply_of
from clew.refusals import failure_details
from clew.v1 import error_pb2, event_pb2, message_pb2
from clew.words import ms_of, word_of


def event_of(wire: event_pb2.Event) -> events.Event | None:
    """The event; None for a kind that this version does not know."""
    kind = wire.WhichOneof("payload")
    decode = _DECODERS.get(kind or "")
    if kind is None or decode is None:
        return None
    return events.Event(
        thread_id=wire.thread_id,
        thread_uid=wire.thread_uid,
        run_id=wire.run_id,
        version=wire.version,
        last_of_version=wire.last_of_version,
        created_at_ms=ms_of(wire.create_time),
        payload=decode(getattr(wire, kind)),
    )


def _discarded(wire: event_pb2.MessageDiscarded) -> events.MessageDiscarded:
    return events.MessageDiscarded(wire.message_id, word_of(error_pb2.FailureCode, wire.code))


def _finished(wire: event_pb2.ToolCallFinished) -> events.ToolCallFinished:
    outcome = word_of(message_pb2.ToolOutcome, wire.outcome)
    message = message_of(wire.message)
    return events.ToolCallFinished(wire.tool_call_id, wire.name, outcome, wire.position, message, wire.node)


def _written(wire: event_pb2.CheckpointWritten) -> events.CheckpointWritten:
    messages = tuple(message_of(message) for message in wire.messages)
    deleted = tuple(wire.deleted_message_ids)
    inside = tuple(events.NodeMessage(each.node, message_of(each.message)) for each in wire.node_messages)
    return events.CheckpointWritten(checkpoint_of(wire.checkpoint), wire.parent_version, messages, deleted, inside)


def _suspended(wire: event_pb2.RunSuspended) -> events.RunSuspended:
    approvals = tuple(approval_of(approval) for approval in wire.approvals)
    return events.RunSuspended(approvals, wire.snapshot, max(wire.approval_count, len(approvals)))


def _failed(wire: event_pb2.RunFailed) -> events.RunFailed:
    metadata, retry_after = failure_details(wire.status)
    return events.RunFailed(
        code=word_of(error_pb2.FailureCode, wire.code),
        message=wire.status.message,
        retryable=wire.retryable,
        metadata=metadata,
        retry_after=retry_after,
        usage=usage_of(wire.usage) if wire.HasField("usage") else None,
        snapshot=wire.snapshot,
    )


_DECODERS: dict[str, Callable[[Any], events.Payload]] = {
    "run_queued": lambda wire: events.RunQueued(wire.ahead),
    "run_started": lambda wire: events.RunStarted(wire.attempt),
    "text_delta": lambda wire: events.TextDelta(wire.message_id, wire.part_index, wire.offset, wire.text),
    "reasoning_delta": lambda wire: events.ReasoningDelta(wire.message_id, wire.part_index, wire.offset, wire.text),
    "message_discarded": _discarded,
    "tool_call_progress": lambda wire: events.ToolCallProgress(
        wire.tool_call_id, wire.name, decode_json(wire.progress_json), wire.node
    ),
    "tool_call_started": lambda wire: events.ToolCallStarted(tool_call_of(wire.tool_call), wire.node),
    "tool_call_finished": _finished,
    "approval_requested": lambda wire: events.ApprovalRequested(approval_of(wire.approval)),
    "checkpoint_written": _written,
    "state_returned": lambda wire: events.StateReturned(wire.state_json),
    "log_trimmed": lambda wire: events.LogTrimmed(wire.oldest_version),
    "heartbeat": lambda _: events.Heartbeat(),
    "run_suspended": _suspended,
    "run_completed": lambda wire: events.RunCompleted(reply_of(wire.reply)),
    "run_failed": _failed,
}
