"""Stateless runs: one turn on a thread that nobody else can name, and that is gone when its stream ends."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from clew_engine.commands.send import send
from clew_engine.events import ApprovalRequested, CheckpointWritten, Event, Payload, RunCompleted, RunSuspended
from clew_engine.messages import Part
from clew_engine.options import Mutation, NewThread, OnDisconnect, RunOptions
from clew_engine.program import Program
from clew_engine.streams import Batches, EventStream
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


def send_stateless(
    storage: Storage, program: Program, content: tuple[Part, ...], values: dict[str, bytes], *, options: RunOptions
) -> EventStream:
    """One turn with nothing kept. Leaving the stream cancels it; a run that suspends cannot be continued.

    The events name no thread. It lives in a storage of its own in memory, whatever database this storage is of.
    """
    scratch = storage.scratch()
    inner = send(
        scratch,
        ThreadKey("", f"run-{secrets.token_hex(8)}"),
        program,
        content,
        values,
        new=NewThread(),
        mutation=Mutation(),
        options=replace(options, on_disconnect=OnDisconnect.CANCEL),
    )

    async def batches() -> Batches:
        async for batch in inner.batches():
            yield [_nameless(event) for event in batch]

    async def leave() -> None:
        await inner.aclose()
        storage.scratches.discard(scratch)
        await scratch.close()

    return EventStream(batches, leave, detachable=False)


def _nameless(event: Event) -> Event:
    return replace(event, thread_id="", payload=_payload(event.payload))


def _payload(payload: Payload) -> Payload:
    match payload:
        case CheckpointWritten(checkpoint=checkpoint):
            return replace(payload, checkpoint=replace(checkpoint, thread_id=""))
        case ApprovalRequested(approval=approval):
            return replace(payload, approval=replace(approval, thread_id=""))
        case RunSuspended(approvals=approvals):
            return RunSuspended(tuple(replace(approval, thread_id="") for approval in approvals))
        case RunCompleted(reply=reply):
            return RunCompleted(replace(reply, thread_id=""))
        case _:
            return payload
