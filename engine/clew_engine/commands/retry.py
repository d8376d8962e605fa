"""Retry: a failed or interrupted run goes on from where it stopped, as a new attempt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clew_engine.attempts import Attempt, Opening
from clew_engine.drafts import Draft
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import Source, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# The program of an app by its name; raises AppNotFoundError or AppMismatchError.
Programs = Callable[[str], Program]


def retry(
    storage: Storage, key: ThreadKey, programs: Programs, *, mutation: Mutation, options: RunOptions
) -> EventStream:
    """Continue the run; finished tool calls are not run again."""

    def opening(thread: OpenThread) -> Opening:
        rule(thread, Command.RETRY)
        return continued(thread, program_of(thread, programs))

    return Attempt(storage, key, "retry", opening, mutation, options).stream()


def continued(thread: OpenThread, program: Program) -> Opening:
    """How a new attempt goes on from a thread's head."""
    continuation, change = program.upgraded(thread.body.next, thread.state, thread.key.thread_id)
    draft = Draft(
        Source.RETRY,
        next=continuation,
        state=change,
        started=tuple(program.starting(continuation, thread.transcript, thread.state)),
        partial=thread.body.partial,
        new_attempt=True,
    )
    return Opening(draft, program)


def program_of(thread: OpenThread, programs: Programs) -> Program:
    """The program that the thread belongs to."""
    return programs(thread.info.app if thread.info else "")
