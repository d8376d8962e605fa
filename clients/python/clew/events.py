"""Events of a thread: what a stream yields. Those that are in the log are `logged`; a `terminal` one ends its run's attempt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from clew.messages import Message, Part
from clew.records import Approval, Checkpoint, Reply
from clew.usage import Usage


class Payload:
    """The base of what an event says."""

    __slots__ = ()
    logged: ClassVar[bool] = False
    terminal: ClassVar[bool] = False

    @property
    def type(self) -> str:
        """The kind's name: `text_delta`, `run_completed`, …"""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


@dataclass(frozen=True, slots=True)
class RunQueued(Payload):
    """The request waits for a busy thread, behind `ahead` others. Nothing is recorded of it yet."""

    ahead: int


@dataclass(frozen=True, slots=True)
class RunStarted(Payload):
    """An attempt begins; text of an earlier attempt that no CheckpointWritten confirmed is void."""

    logged: ClassVar[bool] = True
    attempt: int


@dataclass(frozen=True, slots=True)
class TextDelta(Payload):
    """More of the answer's text. `offset` counts bytes of UTF-8 from the start of the part."""

    message_id: str
    part_index: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta(Payload):
    """More of what the model thinks; as TextDelta."""

    message_id: str
    part_index: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class MessageDiscarded(Payload):
    """What was streamed of this message is void; the new answer has another id. `code` is empty where the client missed why."""

    message_id: str
    code: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted(Payload):
    """A tool call begins: `tool_call` has `id`, `name` and the `args` that run.

    `node` is the path of the workflow's node whose agent asked for it, or empty.
    """

    logged: ClassVar[bool] = True
    tool_call: Part
    node: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallProgress(Payload):
    """How far a tool call is, as the worker that runs it says: any JSON value. Each takes the place of the one before."""

    tool_call_id: str
    name: str
    progress: Any
    node: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallFinished(Payload):
    """A tool call has its outcome, which is durable. `message` is the result as it stands in the transcript; with a `node` it is in none."""

    logged: ClassVar[bool] = True
    tool_call_id: str
    name: str
    outcome: str
    position: int
    message: Message
    node: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequested(Payload):
    """A person is asked."""

    logged: ClassVar[bool] = True
    approval: Approval


@dataclass(frozen=True, slots=True)
class NodeMessage:
    """A message of an agent inside a workflow's node. `node` is the node's path: its name, or `outer/0.inner`."""

    node: str
    message: Message


@dataclass(frozen=True, slots=True)
class CheckpointWritten(Payload):
    """A write is durable. Where `parent_version` is not the version before, the thread was rewound: what came after it is no longer valid.

    A message that comes again was edited; `deleted_message_ids` are gone for good. `node_messages` are what agents inside a workflow's nodes said:
    they are in no transcript, and their text was streamed under their ids.
    """

    logged: ClassVar[bool] = True
    checkpoint: Checkpoint
    parent_version: int
    messages: tuple[Message, ...]
    deleted_message_ids: tuple[str, ...] = ()
    node_messages: tuple[NodeMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class StateReturned(Payload):
    """The state that a run without a thread leaves, as a JSON object; right before its end."""

    state_json: bytes


@dataclass(frozen=True, slots=True)
class LogTrimmed(Payload):
    """Older events are no longer stored; the stream goes on with the oldest that are."""

    oldest_version: int


@dataclass(frozen=True, slots=True)
class Heartbeat(Payload):
    """Nothing happened for a while."""


@dataclass(frozen=True, slots=True)
class RunSuspended(Payload):
    """The run waits for these decisions; for `approval_count`, where they are too much for one event (a Reply and a Result have all of them)."""

    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True
    approvals: tuple[Approval, ...]
    snapshot: bytes = b""
    approval_count: int = 0


@dataclass(frozen=True, slots=True)
class RunCompleted(Payload):
    """The run is complete."""

    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True
    reply: Reply


@dataclass(frozen=True, slots=True)
class RunFailed(Payload):
    """The run failed or was cancelled (`code` is then `cancelled`); `retry` continues it where that makes sense."""

    logged: ClassVar[bool] = True
    terminal: ClassVar[bool] = True
    code: str
    message: str
    retryable: bool
    metadata: dict[str, str]
    retry_after: float | None = None
    usage: Usage | None = None
    snapshot: bytes = b""


@dataclass(frozen=True, slots=True)
class Event:
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
