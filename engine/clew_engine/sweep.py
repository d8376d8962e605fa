"""Approvals whose time is over: they count as rejected, and their runs go on without anyone asking."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from clew_engine.approvals import late_of
from clew_engine.attempts import EXPIRE, Attempt, Opening
from clew_engine.commands.decide import answered
from clew_engine.errors import ClewError, ResumeInvalidError
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, OnBusy, OnDisconnect, RunOptions
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import ThreadKey

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


async def settle(storage: Storage, key: ThreadKey) -> bool:
    """End at once what a thread waits for and has expired; whether there was anything, which may be another's to end by now."""
    head = await storage.backend.threads.get_head(key)
    if head is None or not late_of(head.pending, storage.now_ms()):
        return False
    with suppress(ClewError):
        await _expire(storage, key)
    return True


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
        if not late_of(thread.pending, storage.now_ms()):
            raise ResumeInvalidError("nothing has expired any more")
        return answered(storage, thread, program, (), "")

    return Attempt(storage, key, EXPIRE, opening, Mutation(), options).stream()
