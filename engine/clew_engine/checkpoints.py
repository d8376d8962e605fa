"""Checkpoints as the engine sees them, and the JSON that it keeps in a checkpoint's row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct, field
from msgspec.structs import force_setattr

from clew_engine import ids
from clew_engine.messages import Usage
from clew_storage import CheckpointRecord, Source, Status

# Characters of a failure's sentence.
MAX_FAILURE = 4000


class Failure(Struct, frozen=True):
    """Why a run failed: a stable code, a sentence, and whether the same may work later.

    The sentence may come from anywhere: it is cut to what can be kept and sent.
    """

    code: str
    message: str
    retryable: bool
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = self.message[:MAX_FAILURE].encode("utf-8", "replace").decode()
        if kept != self.message:
            force_setattr(self, "message", kept)


class Call(Struct, frozen=True):
    """A tool call as it runs: `args` is JSON text, edited or as the model wrote it."""

    id: str
    name: str
    args: str


Memo = tuple[str, str, str]
# The version at which a `once` call or step was started, and its id.
Start = tuple[int, str]


class Body(Struct, frozen=True):
    """What a checkpoint's row keeps for the engine.

    `next` is the program's continuation. `started` are the calls that this write starts; `waiting` the ids of approvals that a decision left
    open; `usage` what the run has used (written at its end); `partial` the position of a message that a retry replaces; `memos` what was done
    within the step under way, as (node, key, JSON); `deleted` the ids of messages that the write erased; `left_behind` what had been started `once` on
    lines that a copy has no rows of.
    """

    next: Mapping[str, Any] = field(default_factory=dict)
    started: tuple[Call, ...] = ()
    waiting: tuple[str, ...] = ()
    failure: Failure | None = None
    usage: Usage | None = None
    partial: int | None = None
    memos: tuple[Memo, ...] = ()
    deleted: tuple[str, ...] = ()
    left_behind: tuple[Start, ...] = ()


class Checkpoint(Struct, frozen=True):
    """The saved state of a run at one moment. Times are milliseconds since 1970."""

    id: str
    thread_id: str
    thread_uid: str
    run_id: str
    parent_id: str
    version: int
    parent_version: int
    status: Status
    source: Source
    step: int
    attempt: int
    created_at_ms: int
    next: tuple[str, ...]
    failure: Failure | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `history()` gives them."""
        view: dict[str, Any] = {
            "id": self.id,
            "thread_id": self.thread_id,
            "run_id": self.run_id,
            "parent_id": self.parent_id or None,
            "version": self.version,
            "status": self.status.value,
            "source": self.source.value,
            "step": self.step,
            "attempt": self.attempt,
            "created_at_ms": self.created_at_ms,
            "next": list(self.next),
        }
        if self.failure:
            view["failure_code"] = self.failure.code
            view["failure_message"] = self.failure.message
            view["retryable"] = self.failure.retryable
        return view


def view_checkpoint(thread_id: str, uid: str, record: CheckpointRecord, body: Body | None = None) -> Checkpoint:
    """A stored row as the checkpoint it is; `body` is the row's own, where it was read before."""
    body = body or decode_body(record.body)
    waiting = record.status in (Status.IN_PROGRESS, Status.SUSPENDED, Status.FAILED)
    return Checkpoint(
        id=ids.checkpoint_id(uid, record.version),
        thread_id=thread_id,
        thread_uid=uid,
        run_id=ids.run_id(uid, record.run_version),
        parent_id=ids.checkpoint_id(uid, record.parent_version),
        version=record.version,
        parent_version=record.parent_version,
        status=record.status,
        source=record.source,
        step=record.step,
        attempt=record.attempt,
        created_at_ms=record.created_at_ms,
        next=next_names(body.next) if waiting else (),
        failure=body.failure,
    )


def step_id(node: str, key: str, step: int) -> str:
    """The id of what a node did under a key within a step; where an intent was recorded, its key is the step's own."""
    return f"{node}/{key}@{step}"


def next_names(continuation: Mapping[str, Any]) -> tuple[str, ...]:
    """What the continuation goes on with, by name: `model`, `tools`, or a workflow's nodes."""
    step = continuation.get("do")
    if step is None:
        return ()
    return tuple(step) if isinstance(step, list) else (str(step),)


def encode_body(body: Body, messages_hold_calls: bool = False) -> bytes:
    """The row's JSON. A started call is kept by its id alone where its text is in a message of the same write, or was erased."""
    row: dict[str, Any] = {}
    if body.next:
        row["n"] = body.next
    if body.started:
        row["s"] = [
            call.id if messages_hold_calls or not call.name else [call.id, call.name, call.args]
            for call in body.started
        ]
    if body.waiting:
        row["w"] = body.waiting
    if body.failure:
        why = body.failure
        row["e"] = [why.code, why.message, why.retryable, dict(why.metadata)]
    if body.usage:
        use = body.usage
        row["u"] = [
            use.input_tokens,
            use.output_tokens,
            use.cached_input_tokens,
            use.cache_write_tokens,
            use.reasoning_tokens,
        ]
    if body.partial is not None:
        row["p"] = body.partial
    if body.memos:
        row["m"] = body.memos
    if body.deleted:
        row["d"] = body.deleted
    if body.left_behind:
        row["l"] = body.left_behind
    return orjson.dumps(row)


def decode_body(row: bytes) -> Body:
    """The other way. A started call that is kept by its id alone has an empty name and empty arguments."""
    if row == b"{}":
        return Body()
    data = orjson.loads(row)
    failure = data.get("e")
    return Body(
        next=data.get("n", {}),
        started=tuple(Call(*call) if isinstance(call, list) else Call(call, "", "") for call in data.get("s", ())),
        waiting=tuple(data.get("w", ())),
        failure=Failure(failure[0], failure[1], failure[2], failure[3]) if failure else None,
        usage=Usage(*data["u"]) if "u" in data else None,
        partial=data.get("p"),
        memos=tuple((node, key, text) for node, key, text in data.get("m", ())),
        deleted=tuple(data.get("d", ())),
        left_behind=tuple((version, each) for version, each in data.get("l", ())),
    )
