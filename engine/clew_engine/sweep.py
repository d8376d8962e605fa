"""Approvals whose time is over: they count as rejected, and their runs go on without anyone asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew_engine.approvals import ApprovalKind, Choice, Decision
from clew_engine.attempts import Attempt, Opening
from clew_engine.commands.decide import answered
from clew_engine.errors import ClewError, ResumeInvalidError
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, OnBusy, OnDisconnect, RunOptions
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import ApprovalRecord, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_BATCH = 100
_OPTIONS = RunOptions(on_busy=OnBusy.REJECT, on_disconnect=OnDisconnect.CONTINUE)


async def sweep(storage: Storage) -> int:
    """End what has expired, of the programs that this storage knows; how many threads were taken up."""
    expired = await storage.backend.approvals.list_expired(now_ms=storage.now_ms(), limit=_BATCH)
    taken = 0
    for key in dict.fromkeys(record.key for record in expired):
        try:
            taken += await _expire(storage, key)
        except ClewError:
            # Busy, decided or gone by now: the next sweep sees what is left.
            continue
    return taken


async def _expire(storage: Storage, key: ThreadKey) -> bool:
    head = await storage.backend.threads.get_head(key)
    program = storage.programs.get(head.thread.info.app) if head else None
    if program is None:
        return False
    stream = expire(storage, key, program, _OPTIONS)
    try:
        # Its first events say that the decision is durable; the run goes on by itself.
        await anext(stream.batches(), None)
    finally:
        await stream.aclose()
    return True


def expire(storage: Storage, key: ThreadKey, program: Program, options: RunOptions) -> EventStream:
    """End what a thread waits for and has expired, and go on. Refused with ResumeInvalidError where nothing has."""

    def opening(thread: OpenThread) -> Opening:
        rule(thread, Command.DECIDE)
        late = _late(thread.pending, storage.now_ms())
        if not late:
            raise ResumeInvalidError("nothing has expired any more")
        answers = [(record, _decision(record)) for record in late]
        return answered(storage, thread, program, answers, "", expired=True)

    return Attempt(storage, key, "expire", opening, Mutation(), options).stream()


def _late(pending: Sequence[ApprovalRecord], now_ms: int) -> list[ApprovalRecord]:
    return [record for record in pending if record.expires_at_ms is not None and record.expires_at_ms <= now_ms]


def _decision(record: ApprovalRecord) -> Decision:
    choice = Choice.FAIL if record.kind == ApprovalKind.TOOL_OUTCOME else Choice.REJECT
    return Decision(record.id, choice, reason="expired: nobody answered in time")
