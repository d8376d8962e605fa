"""Decide all that a thread waits for: what that is belongs to the outcome and not to the request, so the same request finds it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clew_engine.approvals import Decision
from clew_engine.attempts import Attempt, Opening
from clew_engine.commands.decide import answered, check_decisions
from clew_engine.commands.retry import Programs, program_of
from clew_engine.errors import ResumeInvalidError, ThreadInterruptedError, expect_version
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.reads import RunState, get_thread
from clew_engine.rules import Command
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import Head, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


def decide_all(
    storage: Storage,
    key: ThreadKey,
    programs: Programs,
    decide: Callable[[str], Decision],
    *,
    mutation: Mutation,
    options: RunOptions,
) -> EventStream:
    """Answer everything that waits when the call arrives, each as `decide` says of its id."""
    read_at: int | None = None

    async def arrival(head: Head | None) -> None:
        """Say at once that nothing waits. A thread that goes on while its turn is waited for waits for something else then."""
        nonlocal read_at
        if head is not None and head.pending:
            read_at = head.thread.head_version
            return
        if head is not None:
            view = await get_thread(storage, key)
            if view.run_state is RunState.INTERRUPTED:
                raise ThreadInterruptedError(key.thread_id, view.run_id)
        raise ResumeInvalidError(
            f"nothing waits for an answer on thread {key.thread_id!r}; its history says what it did",
            thread_id=key.thread_id,
        )

    def opening(thread: OpenThread) -> Opening:
        rule(thread, Command.DECIDE)
        expect_version(key.thread_id, read_at, thread.version)
        decisions = [decide(record.id) for record in thread.pending]
        check_decisions(decisions)
        answers = list(zip(thread.pending, decisions, strict=True))
        return answered(storage, thread, program_of(thread, programs), answers, options.actor)

    return Attempt(storage, key, "decide", opening, mutation, options, arrival=arrival).stream()
