"""The table applied to a thread that is held: the verdict, or the refusal as an error."""

from __future__ import annotations

from clew_engine.errors import (
    CheckpointNotFoundError,
    ResumeInvalidError,
    ThreadInterruptedError,
    ThreadNotFoundError,
    ThreadSuspendedError,
)
from clew_engine.open_threads import OpenThread
from clew_engine.rules import Command, HeadState, Verdict, head_state, judge

_NOTHING = {
    HeadState.NONE: "has no run",
    HeadState.COMPLETED: "has nothing that waits: its last run completed",
    HeadState.SUSPENDED: "waits for a person; decide its approvals instead",
    HeadState.FAILED: "has no approval that waits: its last run failed; retry continues it",
}


def rule(thread: OpenThread, command: Command, *, forced: bool = False, checkpoint_id: str = "") -> Verdict:
    """The verdict for a thread whose lease the caller holds, so that no run of it is alive. Raises what the table refuses."""
    state = head_state(thread.status, run_alive=False)
    verdict = judge(state, command, forced=forced)
    thread_id = thread.key.thread_id
    if verdict is Verdict.REFUSE_SUSPENDED:
        raise ThreadSuspendedError(thread_id, tuple(record.id for record in thread.pending))
    if verdict is Verdict.REFUSE_INTERRUPTED:
        raise ThreadInterruptedError(thread_id, thread.run_id)
    if verdict is Verdict.REFUSE_RESUME:
        raise ResumeInvalidError(f"cannot {command.value}: thread {thread_id!r} {_NOTHING[state]}", thread_id=thread_id)
    if verdict is Verdict.REFUSE_CHECKPOINT:
        raise CheckpointNotFoundError(thread_id, checkpoint_id)
    if verdict is Verdict.REFUSE_THREAD:
        raise ThreadNotFoundError(thread_id)
    return verdict
