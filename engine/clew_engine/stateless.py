"""Stateless runs: on a thread that nobody else can name, and that is gone when its stream ends. A workflow's leaves a snapshot behind."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.checkpoints import Failure
from clew_engine.commands.send import send
from clew_engine.errors import StateTooLargeError
from clew_engine.events import (
    ApprovalRequested,
    CheckpointWritten,
    Event,
    Payload,
    RunCompleted,
    RunFailed,
    RunSuspended,
    StateReturned,
)
from clew_engine.json_text import join_object
from clew_engine.messages import Part
from clew_engine.options import Mutation, NewThread, OnDisconnect, RunOptions
from clew_engine.program import Program
from clew_engine.state import LARGEST
from clew_engine.streams import Batches, EventStream, late_stream
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.resuming import Answer, go_on
from clew_engine.workflows.snapshots import Snapshot, restore, take
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# What is done to a snapshot's JSON before it is handed out. Raises StateTooLargeError for one that is too much to carry.
Seal = Callable[[bytes], bytes]


def send_stateless(
    storage: Storage,
    program: Program,
    content: tuple[Part, ...],
    values: dict[str, bytes],
    *,
    options: RunOptions,
    seal: Seal = bytes,
) -> EventStream:
    """One turn with nothing kept. Leaving the stream cancels it.

    The events name no thread. It lives in a storage of its own in memory, whatever database this storage is of.
    """
    key = ThreadKey("", f"run-{secrets.token_hex(8)}")

    async def begin(scratch: Storage) -> EventStream:
        return send(scratch, key, program, content, values, new=NewThread(), mutation=Mutation(), options=_own(options))

    return _played(storage, program, begin, seal)


def resume_stateless(
    storage: Storage, program: Program, snapshot: Snapshot, answer: Answer, *, options: RunOptions, seal: Seal = bytes
) -> EventStream:
    """A run goes on from its snapshot, as stateless as it was."""

    async def begin(scratch: Storage) -> EventStream:
        await restore(scratch, snapshot)
        return go_on(scratch, program, snapshot, answer, _own(options))

    return _played(storage, program, begin, seal)


def _own(options: RunOptions) -> RunOptions:
    return replace(options, on_disconnect=OnDisconnect.CANCEL)


def _played(
    storage: Storage, program: Program, begin: Callable[[Storage], Awaitable[EventStream]], seal: Seal
) -> EventStream:
    scratch = storage.scratch()
    inner = late_stream(lambda: begin(scratch))

    async def told(event: Event) -> list[Event]:
        if not event.payload.terminal:
            return [replace(event, thread_id="", payload=_nameless(event.payload))]
        state = join_object(await _state(scratch, event.thread_id))
        last = replace(event, thread_id="", payload=_nameless(await ended(event)))
        if len(state) > LARGEST:
            return [replace(last, payload=_too_large(len(state)))]
        return [replace(last, last_of_version=False, payload=StateReturned(state)), last]

    async def ended(event: Event) -> Payload:
        payload = event.payload
        if isinstance(program, WorkflowProgram) and isinstance(payload, RunSuspended | RunFailed):
            snapshot = await take(scratch, ThreadKey("", event.thread_id), program)
            payload = _with_snapshot(payload, snapshot, seal)
        return payload

    async def batches() -> Batches:
        async for batch in inner.batches():
            yield [each for event in batch for each in await told(event)]

    async def leave() -> None:
        await inner.aclose()
        storage.scratches.discard(scratch)
        await scratch.close()

    return EventStream(batches, leave, detachable=False)


async def _state(scratch: Storage, thread_id: str) -> dict[str, bytes]:
    """The state at the end: the terminal is written, and nothing writes after it."""
    return await scratch.backend.threads.get_state(ThreadKey("", thread_id), version=None) or {}


def _too_large(size: int) -> RunFailed:
    message = f"the state is of {size} bytes, more than the {LARGEST} that can be handed over; run it on a thread"
    return RunFailed(Failure("limit_exceeded", message, retryable=False, metadata={"limit": "state"}))


def _with_snapshot(payload: RunSuspended | RunFailed, snapshot: Snapshot, seal: Seal) -> Payload:
    try:
        return replace(payload, snapshot=seal(snapshot.as_json()))
    except StateTooLargeError as error:
        if isinstance(payload, RunFailed):
            why = f"{payload.failure.message} (and nothing continues it without a thread: {error.message})"
            return replace(payload, failure=replace(payload.failure, message=why))
        message = f"the run waits for a person, which it cannot without a thread: {error.message}"
        return RunFailed(Failure("limit_exceeded", message, retryable=False, metadata={"limit": "snapshot"}))


def _nameless(payload: Payload) -> Payload:
    match payload:
        case CheckpointWritten(checkpoint=checkpoint):
            return replace(payload, checkpoint=replace(checkpoint, thread_id=""))
        case ApprovalRequested(approval=approval):
            return replace(payload, approval=replace(approval, thread_id=""))
        case RunSuspended(approvals=approvals):
            return replace(payload, approvals=tuple(replace(approval, thread_id="") for approval in approvals))
        case RunCompleted(reply=reply):
            return RunCompleted(replace(reply, thread_id=""))
        case _:
            return payload
