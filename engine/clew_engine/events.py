"""Events of a thread: what a stream yields. Which of them are in the log, and in which order, is in `log_events`."""

from __future__ import annotations

import re
from typing import ClassVar

from msgspec import Struct

from clew_engine.approvals import Approval
from clew_engine.checkpoints import Call, Checkpoint, Failure
from clew_engine.messages import Message, Outcome, Usage
from clew_engine.node_talks import NodeMessage
from clew_engine.replies import Reply


class Payload(Struct, frozen=True):
    """The base of what an event says. `logged` kinds are replayed from the log; a `terminal` one ends its run's attempt."""

    logged: ClassVar[bool] = False
    terminal: ClassVar[bool] = False

    @property
    def type(self) -> str:
        """The kind's name: `text_delta`, `run_completed`, …"""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


class RunQueued(Payload, frozen=True):
    """Another run holds the thread; this one waits behind `ahead` others."""

    ahead: int


class RunStarted(Payload, frozen=True):
    """An attempt begins; text of an earlier attempt that was not written is void."""

    attempt: int
    logged: ClassVar[bool] = True


class TextDelta(Payload, frozen=True):
    """More text of a message that is not written yet. `offset` counts UTF-8 bytes from the start of the part."""

    message_id: str
    part_index: int
    offset: int
    text: str


class ReasoningDelta(Payload, frozen=True):
    """More of a model's reasoning; as TextDelta."""

    message_id: str
    part_index: int
    offset: int
    text: str


class MessageDiscarded(Payload, frozen=True):
    """The model is asked again; what was streamed under this id is void."""

    message_id: str
    failure: Failure


class ToolCallStarted(Payload, frozen=True):
    """A tool call begins; the write that says so is durable. `node` is the path of the workflow's node whose agent asked for it, or empty."""

    call: Call
    node: str = ""
    logged: ClassVar[bool] = True


class ToolCallProgress(Payload, frozen=True):
    """See the contract. `progress` is a JSON value."""

    call_id: str
    name: str
    progress: bytes
    node: str = ""


class ToolCallFinished(Payload, frozen=True):
    """A tool call has its outcome; it is in `message`, which the same write brings. With a `node` the message is in no transcript."""

    call_id: str
    name: str
    outcome: Outcome
    message: Message
    node: str = ""
    logged: ClassVar[bool] = True


class ApprovalRequested(Payload, frozen=True):
    """A person is asked."""

    approval: Approval
    logged: ClassVar[bool] = True


class CheckpointWritten(Payload, frozen=True):
    """A checkpoint is durable, with the messages that it brought or changed, and the ids of those that it deleted.

    `node_messages` are what agents inside a workflow's nodes said, by the ids under which their text was streamed.
    """

    checkpoint: Checkpoint
    messages: tuple[Message, ...]
    deleted_message_ids: tuple[str, ...] = ()
    node_messages: tuple[NodeMessage, ...] = ()
    logged: ClassVar[bool] = True


class StateReturned(Payload, frozen=True):
    """The state that a run without a thread leaves, as a JSON object; right before its terminal."""

    state_json: bytes


class LogTrimmed(Payload, frozen=True):
    """The log below `oldest_version` is gone; the replay begins there."""

    oldest_version: int


class Heartbeat(Payload, frozen=True):
    """Nothing happened for a while, and the stream is alive."""


class RunSuspended(Payload, frozen=True):
    """The run waits for these answers. `snapshot` is what a workflow without a thread goes on from; empty for all others."""

    approvals: tuple[Approval, ...]
    snapshot: bytes = b""
    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True


class RunCompleted(Payload, frozen=True):
    """The run is done."""

    reply: Reply
    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True


class RunFailed(Payload, frozen=True):
    """The run failed, and is saved; `retry` continues it. `snapshot` is as in RunSuspended."""

    failure: Failure
    usage: Usage | None = None
    snapshot: bytes = b""
    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True


class Event(Struct, frozen=True):
    """One event of a thread. `version` is the cursor: with `last_of_version` all events of that write have been seen."""

    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    last_of_version: bool
    created_at_ms: int
    payload: Payload

    @property
    def type(self) -> str:
        """The payload's kind by name."""
        return self.payload.type
