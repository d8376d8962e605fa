"""Events of a thread, and batches of them within what one message may weigh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Protocol, TypeVar

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer
from google.protobuf.message import Message as ProtoMessage
from msgspec.structs import replace

from clew.v1 import event_pb2 as pb
from clew.v1 import run_pb2
from clew_engine import events
from clew_engine.events import Event, Payload
from clew_engine.live_text.texts import DELTAS
from clew_engine.replies import Reply
from clew_server.rpc.failures import failure_status
from clew_server.rpc.wire.approvals import to_approval
from clew_server.rpc.wire.checkpoints import put_checkpoint, to_failure_code
from clew_server.rpc.wire.messages import put_message, to_message, to_outcome, to_usage
from clew_server.rpc.wire.scalars import MESSAGE_BYTES, VALUE_BYTES, put_time
from clew_storage import Source

M = TypeVar("M", bound=ProtoMessage)


class Response(Protocol):
    """A message that events are streamed in."""

    @property
    def events(self) -> RepeatedCompositeFieldContainer[pb.Event]:
        """What it holds."""
        ...


R = TypeVar("R", bound=Response)
# What surrounds an event in a response: a tag and a length of up to four bytes.
_AROUND = 6
# What one event carries of a text.
_PIECE_BYTES = 1 << 20
# What an event may weigh beside the one large thing in it.
_FRAME = 4096


def to_event(event: Event) -> pb.Event:
    """An event of any kind."""
    wire = pb.Event()
    put_event(event, wire)
    return wire


def put_event(event: Event, wire: pb.Event) -> None:
    """As `to_event`, into a message that is there."""
    wire.thread_id = event.thread_id
    wire.thread_uid = event.thread_uid
    wire.run_id = event.run_id
    wire.version = event.version
    wire.last_of_version = event.last_of_version
    put_time(event.created_at_ms, wire.create_time)
    field, put = _PAYLOADS[type(event.payload)]
    payload = getattr(wire, field)
    # One in which nothing is set is said all the same.
    payload.SetInParent()
    put(event.payload, payload)


def batches(items: Iterable[M], limit: int = MESSAGE_BYTES) -> Iterator[list[M]]:
    """The items in order, as many together as a response of `limit` bytes holds."""
    batch: list[M] = []
    size = 0
    for item in items:
        more = item.ByteSize() + _AROUND
        if batch and size + more > limit:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += more
    if batch:
        yield batch


def fitting(items: Iterable[M], limit: int) -> list[M]:
    """As many of the items, from the first, as `limit` bytes hold."""
    return next(batches(items, limit), [])


def to_reply(reply: Reply) -> run_pb2.Reply:
    """What a completed run gives; without its message where that and the text are too much for one event."""
    text, message = reply.text, to_message(reply.said) if reply.said else None
    if message is not None and message.ByteSize() + len(text.encode()) > VALUE_BYTES:
        message = None
    return run_pb2.Reply(
        thread_id=reply.thread_id,
        thread_uid=reply.thread_uid,
        run_id=reply.run_id,
        version=reply.version,
        text=text,
        message_id=reply.message_id,
        message=message,
        usage=to_usage(reply.usage),
        steps=reply.steps,
    )


# Each fills the field of an event: what is handed to a message's constructor is copied there, and of text there is much.


def _queued(payload: events.RunQueued, wire: pb.RunQueued) -> None:
    wire.ahead = payload.ahead


def _started(payload: events.RunStarted, wire: pb.RunStarted) -> None:
    wire.attempt = payload.attempt


def _delta(payload: events.TextDelta | events.ReasoningDelta, wire: pb.TextDelta | pb.ReasoningDelta) -> None:
    wire.message_id = payload.message_id
    wire.part_index = payload.part_index
    wire.offset = payload.offset
    wire.text = payload.text


def _discarded(payload: events.MessageDiscarded, wire: pb.MessageDiscarded) -> None:
    wire.message_id = payload.message_id
    wire.code = to_failure_code(payload.failure.code)


def _call_started(payload: events.ToolCallStarted, wire: pb.ToolCallStarted) -> None:
    wire.tool_call.id = payload.call.id
    wire.tool_call.name = payload.call.name
    wire.tool_call.arguments_json = payload.call.args
    wire.node = payload.node


def _call_progress(payload: events.ToolCallProgress, wire: pb.ToolCallProgress) -> None:
    wire.tool_call_id = payload.call_id
    wire.name = payload.name
    wire.progress_json = payload.progress.decode()
    wire.node = payload.node


def _call_finished(payload: events.ToolCallFinished, wire: pb.ToolCallFinished) -> None:
    wire.tool_call_id = payload.call_id
    wire.name = payload.name
    wire.outcome = to_outcome(payload.outcome)
    wire.position = payload.message.position
    put_message(payload.message, wire.message)
    wire.node = payload.node


def _asked(payload: events.ApprovalRequested, wire: pb.ApprovalRequested) -> None:
    wire.approval.CopyFrom(to_approval(payload.approval))


def _written(payload: events.CheckpointWritten, wire: pb.CheckpointWritten) -> None:
    put_checkpoint(payload.checkpoint, wire.checkpoint)
    wire.parent_version = payload.checkpoint.parent_version
    # A result that was edited is no call that finished: nothing else carries it.
    edited = payload.checkpoint.source is Source.UPDATE
    for message in payload.messages:
        if edited or not message.tool_results:
            put_message(message, wire.messages.add())
    wire.deleted_message_ids.extend(payload.deleted_message_ids)
    for each in payload.node_messages:
        put_message(each.message, wire.node_messages.add(node=each.node).message)


def _state(payload: events.StateReturned, wire: pb.StateReturned) -> None:
    wire.state_json = payload.state_json


def _trimmed(payload: events.LogTrimmed, wire: pb.LogTrimmed) -> None:
    wire.oldest_version = payload.oldest_version


def _beat(_: events.Heartbeat, __: pb.Heartbeat) -> None:
    """It says nothing."""


def _suspended(payload: events.RunSuspended, wire: pb.RunSuspended) -> None:
    room = min(VALUE_BYTES, MESSAGE_BYTES - _FRAME - len(payload.snapshot))
    approvals = [approval for approval in map(to_approval, payload.approvals) if approval.ByteSize() + _AROUND <= room]
    wire.approvals.extend(fitting(approvals, room))
    wire.snapshot = payload.snapshot
    wire.approval_count = len(payload.approvals)


def _completed(payload: events.RunCompleted, wire: pb.RunCompleted) -> None:
    wire.reply.CopyFrom(to_reply(payload.reply))


def _failed(payload: events.RunFailed, wire: pb.RunFailed) -> None:
    wire.status.CopyFrom(failure_status(payload.failure))
    wire.code = to_failure_code(payload.failure.code)
    wire.retryable = payload.failure.retryable
    wire.snapshot = payload.snapshot
    if payload.usage:
        wire.usage.CopyFrom(to_usage(payload.usage))


_PAYLOADS: dict[type[Payload], tuple[str, Callable[[Any, Any], None]]] = {
    events.RunQueued: ("run_queued", _queued),
    events.RunStarted: ("run_started", _started),
    events.TextDelta: ("text_delta", _delta),
    events.ReasoningDelta: ("reasoning_delta", _delta),
    events.MessageDiscarded: ("message_discarded", _discarded),
    events.ToolCallStarted: ("tool_call_started", _call_started),
    events.ToolCallProgress: ("tool_call_progress", _call_progress),
    events.ToolCallFinished: ("tool_call_finished", _call_finished),
    events.ApprovalRequested: ("approval_requested", _asked),
    events.CheckpointWritten: ("checkpoint_written", _written),
    events.StateReturned: ("state_returned", _state),
    events.LogTrimmed: ("log_trimmed", _trimmed),
    events.Heartbeat: ("heartbeat", _beat),
    events.RunSuspended: ("run_suspended", _suspended),
    events.RunCompleted: ("run_completed", _completed),
    events.RunFailed: ("run_failed", _failed),
}


def to_responses(batch: Sequence[Event], response: Callable[[], R], limit: int = MESSAGE_BYTES) -> Iterator[R]:
    """A batch of the engine's in one response or, where the events are too much for one, several: each is made where it is sent from."""
    filled, size = response(), 0
    for event in chain.from_iterable(map(_carried, batch)):
        wire = filled.events.add()
        put_event(event, wire)
        more = wire.ByteSize() + _AROUND
        if size and size + more > limit:
            del filled.events[-1]
            yield filled
            filled, size = response(), 0
            put_event(event, filled.events.add())
        size += more
    if size:
        yield filled


def _carried(event: Event) -> Iterable[Event]:
    """The event itself or, of text that is too much for one, the same text in several that follow each other."""
    payload = event.payload
    if not isinstance(payload, DELTAS) or len(payload.text) <= _PIECE_BYTES // 4:
        return (event,)
    return _pieces(event, payload)


def _pieces(event: Event, payload: events.TextDelta | events.ReasoningDelta) -> Iterator[Event]:
    text, start = payload.text.encode(), 0
    while start < len(text):
        # No code point is split: what is cut of the last one begins the next piece.
        piece = text[start : start + _PIECE_BYTES].decode(errors="ignore")
        yield replace(event, payload=replace(payload, offset=payload.offset + start, text=piece))
        start += len(piece.encode())
