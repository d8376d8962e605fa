"""What reads give: threads, checkpoints, approvals, apps, replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from clew.json_text import decode_json
from clew.messages import Message, message_of, usage_of
from clew.usage import NO_USAGE, Usage
from clew.v1 import app_pb2, approval_pb2, checkpoint_pb2, error_pb2, run_pb2, thread_pb2, worker_pb2
from clew.words import ms_of, word_of


class Checkpoint(TypedDict):
    """One write of a thread, as `history` gives it. `status` and `source` are the contract's words in lower case.

    One that failed says why, and whether `retry` may succeed without anything else being changed.
    """

    id: str
    thread_id: str
    run_id: str
    parent_id: str | None
    version: int
    status: str
    source: str
    step: int
    attempt: int
    created_at_ms: int
    next: list[str]
    failure_code: NotRequired[str]
    failure_message: NotRequired[str]
    retryable: NotRequired[bool]


@dataclass(frozen=True, slots=True)
class ThreadRun:
    """The run at a thread's head: `state` is `running`, or `interrupted` where its process is gone.

    It is empty where that cannot be known, since the server has opened its database for reading alone.
    """

    run_id: str
    state: str
    attempt: int


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """How a thread stands. `status` is empty and `version` 0 before anything was written."""

    thread_id: str
    thread_uid: str
    app: str
    user_id: str
    name: str
    metadata: dict[str, Any]
    status: str
    version: int
    run: ThreadRun | None
    pending_approvals: int
    created_at_ms: int
    updated_at_ms: int
    etag: str


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to a person. `arguments_json` is exactly what would run, and `arguments_digest` its SHA-256 in hex.

    `decided_arguments_json` is what a person let run instead; empty where nothing was changed. All three are empty, like the reason, once the message that asked for the call was deleted.
    `subject` is the call, or the node of a workflow with what it asks (`pay:0`), by which a snapshot's approvals can be decided, too.
    """

    id: str
    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    kind: str
    state: str
    tool: str
    tool_call_id: str
    arguments_json: str
    arguments_digest: str
    requested_by: str
    created_at_ms: int
    expires_at_ms: int | None
    decided_by: str
    decided_at_ms: int | None
    reason: str
    prompt_json: str
    schema_json: str
    decided_arguments_json: str = ""
    subject: str = ""

    @property
    def arguments(self) -> Any:
        """The arguments parsed; None for a pause."""
        return decode_json(self.arguments_json)

    @property
    def decided_arguments(self) -> Any:
        """The arguments that a person let run instead, parsed; None where nothing was changed."""
        return decode_json(self.decided_arguments_json)

    @property
    def prompt(self) -> Any:
        """What a pause asks; None for the other kinds."""
        return decode_json(self.prompt_json)

    @property
    def schema(self) -> Any:
        """The JSON Schema that the answer to a pause must meet; None where any value will do."""
        return decode_json(self.schema_json)


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that an app's model may call."""

    name: str
    description: str
    parameters_schema: Any
    requires_approval: bool
    once: bool


@dataclass(frozen=True, slots=True)
class WorkerTool:
    """A tool that a worker offers. `timeout` is in seconds; None and 0 are as the contract has them."""

    name: str
    description: str
    parameters_schema: Any
    once: bool
    timeout: float | None
    max_calls: int
    max_tries: int


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker that is there. With a `thread_id` it takes calls of that thread alone."""

    worker_id: str
    tools: tuple[WorkerTool, ...]
    thread_id: str
    max_calls: int
    draining: bool
    created_at_ms: int


@dataclass(frozen=True, slots=True)
class App:
    """An agent or workflow that the server runs."""

    name: str
    kind: str
    description: str
    tools: tuple[Tool, ...]
    input_schema: Any
    state_schema: Any
    model: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of a turn. With status `suspended` there is no message yet, and `approvals` says what is asked.

    `snapshot` is what `resume` needs to continue a run without a thread; empty for a run on a thread.
    """

    thread_id: str
    thread_uid: str
    run_id: str
    version: int
    status: str
    text: str = ""
    message_id: str = ""
    message: Message | None = None
    usage: Usage = NO_USAGE
    steps: int = 0
    approvals: tuple[Approval, ...] = ()
    snapshot: bytes = b""


def checkpoint_of(wire: checkpoint_pb2.Checkpoint) -> Checkpoint:
    """A checkpoint as a plain dict."""
    view = Checkpoint(
        id=wire.id,
        thread_id=wire.thread_id,
        run_id=wire.run_id,
        parent_id=wire.parent_id or None,
        version=wire.version,
        status=word_of(checkpoint_pb2.CheckpointStatus, wire.status),
        source=word_of(checkpoint_pb2.CheckpointSource, wire.source),
        step=wire.step,
        attempt=wire.attempt,
        created_at_ms=ms_of(wire.create_time),
        next=list(wire.next),
    )
    if wire.failure_code:
        view["failure_code"] = word_of(error_pb2.FailureCode, wire.failure_code)
        view["failure_message"] = wire.failure_message
        view["retryable"] = wire.retryable
    return view


def thread_of(wire: thread_pb2.Thread) -> ThreadInfo:
    """A thread."""
    run = wire.run
    return ThreadInfo(
        thread_id=wire.thread_id,
        thread_uid=wire.thread_uid,
        app=wire.app,
        user_id=wire.user_id,
        name=wire.name,
        metadata=decode_json(wire.metadata_json, {}),
        status=word_of(checkpoint_pb2.CheckpointStatus, wire.status),
        version=wire.version,
        run=ThreadRun(run.run_id, word_of(thread_pb2.RunState, run.state), run.attempt)
        if wire.HasField("run")
        else None,
        pending_approvals=wire.pending_approvals,
        created_at_ms=ms_of(wire.create_time),
        updated_at_ms=ms_of(wire.update_time),
        etag=wire.etag,
    )


def approval_of(wire: approval_pb2.Approval) -> Approval:
    """An approval."""
    return Approval(
        id=wire.id,
        thread_id=wire.thread_id,
        thread_uid=wire.thread_uid,
        run_id=wire.run_id,
        version=wire.version,
        kind=word_of(approval_pb2.ApprovalKind, wire.kind),
        state=word_of(approval_pb2.ApprovalState, wire.state),
        tool=wire.tool,
        tool_call_id=wire.tool_call_id,
        arguments_json=wire.arguments_json,
        arguments_digest=wire.arguments_digest,
        requested_by=wire.requested_by,
        created_at_ms=ms_of(wire.create_time),
        expires_at_ms=ms_of(wire.expire_time) if wire.HasField("expire_time") else None,
        decided_by=wire.decided_by,
        decided_at_ms=ms_of(wire.decide_time) if wire.HasField("decide_time") else None,
        reason=wire.reason,
        decided_arguments_json=wire.decided_arguments_json,
        prompt_json=wire.prompt_json,
        schema_json=wire.schema_json,
        subject=wire.subject,
    )


def app_of(wire: app_pb2.App) -> App:
    """An app with its tools."""
    return App(
        name=wire.name,
        kind=word_of(app_pb2.AppKind, wire.kind),
        description=wire.description,
        tools=tuple(_tool(tool) for tool in wire.tools),
        input_schema=decode_json(wire.input_schema_json),
        state_schema=decode_json(wire.state_schema_json),
        model=wire.model,
    )


def worker_of(wire: worker_pb2.Worker) -> WorkerInfo:
    """A worker with its tools."""
    return WorkerInfo(
        worker_id=wire.worker_id,
        tools=tuple(_worker_tool(tool) for tool in wire.tools),
        thread_id=wire.thread_id,
        max_calls=wire.max_calls,
        draining=wire.draining,
        created_at_ms=ms_of(wire.create_time),
    )


def _worker_tool(wire: worker_pb2.WorkerTool) -> WorkerTool:
    return WorkerTool(
        name=wire.name,
        description=wire.description,
        parameters_schema=decode_json(wire.parameters_schema_json),
        once=wire.once,
        timeout=wire.timeout.ToMilliseconds() / 1000 if wire.HasField("timeout") else None,
        max_calls=wire.max_calls,
        max_tries=wire.max_tries,
    )


def reply_of(wire: run_pb2.Reply) -> Reply:
    """The reply of a completed run."""
    return Reply(
        thread_id=wire.thread_id,
        thread_uid=wire.thread_uid,
        run_id=wire.run_id,
        version=wire.version,
        status="completed",
        text=wire.text,
        message_id=wire.message_id,
        message=message_of(wire.message) if wire.HasField("message") else None,
        usage=usage_of(wire.usage),
        steps=wire.steps,
    )


def _tool(wire: app_pb2.Tool) -> Tool:
    schema = decode_json(wire.parameters_schema_json)
    return Tool(wire.name, wire.description, schema, wire.requires_approval, wire.once)
