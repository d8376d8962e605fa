"""Outcomes that workers bring: each is taken once, by the run that waits for it, or by the people's question that it answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.approvals import Choice, Decision
from clew_engine.call_desk import encode_outcome
from clew_engine.call_questions import question_about
from clew_engine.commands.decide import decide
from clew_engine.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalExpiredError,
    CallNotPendingError,
    ClewError,
    NotFoundError,
    ResumeInvalidError,
    ThreadBusyError,
    ThreadInterruptedError,
)
from clew_engine.field_rules import MAX_REASON
from clew_engine.json_text import encode
from clew_engine.lookout import is_alive
from clew_engine.messages import TextPart, ToolResultPart
from clew_engine.options import Mutation, OnDisconnect, RunOptions
from clew_storage import ApprovalRecord, CallName, CallSight, CallState, Head, Status

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# Of so many looks at a call one is a look at its thread.
_LOOKS = 5
# How long a run is waited for to want a call anew that the database has lost.
_PATIENCE_S = 5.0


async def finish(
    storage: Storage, worker_id: str, call: CallName, result: ToolResultPart, *, again_ms: int | None = None
) -> bool:
    """Bring an outcome, and come back when it is durable; whether the call is tried again instead.

    `again_ms`: it has failed, and another try after so long may help. Raises CallNotPendingError where nobody waits for it,
    ThreadInterruptedError where the run is to be retried before anybody does, and ThreadBusyError where the run has not come to it yet.
    """
    if again_ms is not None and await _given_back(storage, worker_id, call, again_ms):
        return True
    outcome, looks, began = encode_outcome(result), 0, time.monotonic()
    with storage.desk.board.following(call):
        sight = await storage.backend.exchange.finish(worker_id, call, outcome)
        storage.desk.hint()
        while not _is_taken(sight, worker_id):
            if sight is not None and sight.state is CallState.OPEN:
                # The database had lost the call, and its run wants it anew.
                sight = await storage.backend.exchange.finish(worker_id, call, outcome)
                storage.desk.hint()
                continue
            if sight is not None and (sight.state is not CallState.DONE or sight.outcome != outcome):
                raise CallNotPendingError(call.name)
            if looks % _LOOKS == 1:
                # In this order: a run has its end, or its question, in the log before it is gone.
                alive = await is_alive(storage, call.key)
                head = await storage.backend.threads.get_head(call.key)
                asked = None if head is None else question_about(head, call)
                if asked is not None:
                    await _answer(storage, worker_id, call, asked, result)
                    return False
                waited_s = time.monotonic() - began
                why = _why_not(call, head, alive=alive, known=sight is not None, waited_s=waited_s)
                if why is not None and not _is_taken(await storage.desk.board.sight(call), worker_id):
                    raise why
            sight = await storage.desk.board.sight(call)
            looks += 1
    return False


def _is_taken(sight: CallSight | None, worker_id: str) -> bool:
    return sight is not None and sight.state is CallState.TAKEN and sight.worker_id == worker_id


async def _given_back(storage: Storage, worker_id: str, call: CallName, again_ms: int) -> bool:
    then = storage.now_ms() + again_ms
    exchange = storage.backend.exchange
    given_back = await exchange.give_back(call.key.tenant, worker_id, call, not_before_ms=then)
    storage.desk.hint()
    return given_back


def _why_not(call: CallName, head: Head | None, *, alive: bool, known: bool, waited_s: float) -> ClewError | None:
    """Why nothing takes the outcome, or nothing yet; None where something may: the call is known, or will be soon."""
    if head is None or head.checkpoint is None:
        # A run without a thread is known by its call alone.
        return None if known else CallNotPendingError(call.name)
    if head.thread.head_status is not Status.IN_PROGRESS:
        return CallNotPendingError(call.name)
    if not alive:
        return ThreadInterruptedError(call.key.thread_id, ids.run_id(head.thread.uid, head.checkpoint.run_version))
    # The run may come to it when its other calls are done: of one that is `once` it asks people then.
    return None if known or waited_s < _PATIENCE_S else ThreadBusyError(call.key.thread_id, waited_s)


async def _answer(
    storage: Storage, worker_id: str, call: CallName, asked: ApprovalRecord, result: ToolResultPart
) -> None:
    options = RunOptions(actor=f"worker:{worker_id}", on_disconnect=OnDisconnect.CONTINUE)
    stream = decide(
        storage,
        call.key,
        storage.programs.__getitem__,
        [_decision(asked, result)],
        mutation=Mutation(),
        options=options,
    )
    try:
        # The first events that are in the log say that the decision is, too; the run goes on by itself. While it waits for its turn nothing is.
        async for batch in stream.batches():
            if any(event.payload.logged for event in batch):
                break
    except (ApprovalAlreadyDecidedError, ApprovalExpiredError, NotFoundError, ResumeInvalidError) as error:
        raise CallNotPendingError(call.name) from error
    finally:
        await stream.aclose()
    await storage.desk.taken(call)


def _decision(asked: ApprovalRecord, result: ToolResultPart) -> Decision:
    text = "\n".join(part.text for part in result.content if isinstance(part, TextPart))
    if result.is_error:
        return Decision.fail(asked.id, text.encode()[:MAX_REASON].decode(errors="ignore"))
    value = encode(text) if result.structured is None else result.structured
    return Decision(asked.id, Choice.RESULT, value=value.decode(), output=encode_outcome(result).decode())
