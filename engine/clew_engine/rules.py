"""The state table: what a command does to a thread, by its head alone. Pure; a test walks every cell."""

from __future__ import annotations

from enum import StrEnum

from clew_storage import Status


class HeadState(StrEnum):
    """How a thread stands for the next command."""

    NONE = "none"
    COMPLETED = "completed"
    SUSPENDED = "suspended"
    FAILED = "failed"
    RUNNING = "running"
    INTERRUPTED = "interrupted"


class Command(StrEnum):
    """What may be asked of a thread. `decide` stands for resume too; `write_as_node` is a write of state in the name of a workflow's node."""

    SEND = "send"
    DECIDE = "decide"
    RETRY = "retry"
    WRITE = "write"
    WRITE_AS_NODE = "write_as_node"
    REWIND = "rewind"
    CANCEL = "cancel"
    DELETE = "delete"


class Verdict(StrEnum):
    """What follows."""

    START_THREAD = "start_thread"
    NEW_TURN = "new_turn"
    CONTINUE = "continue"
    CREATE = "create"
    KEEP_STATUS = "keep_status"
    FAIL_UPDATED = "fail_updated"
    NEW_HEAD = "new_head"
    FAIL_CANCELLED = "fail_cancelled"
    FLAG_AND_AWAIT = "flag_and_await"
    BUSY_POLICY = "busy_policy"
    NO_CHANGE = "no_change"
    ERASE = "erase"
    NOTHING_TO_ERASE = "nothing_to_erase"
    REFUSE_SUSPENDED = "thread_suspended"
    REFUSE_INTERRUPTED = "thread_interrupted"
    REFUSE_RESUME = "resume_invalid"
    REFUSE_CHECKPOINT = "checkpoint_not_found"
    REFUSE_THREAD = "thread_not_found"


_V = Verdict
TABLE: dict[HeadState, dict[Command, Verdict]] = {
    state: dict(zip(Command, verdicts, strict=True))
    for state, verdicts in {
        HeadState.NONE: (
            _V.START_THREAD,
            _V.REFUSE_RESUME,
            _V.REFUSE_RESUME,
            _V.CREATE,
            _V.FAIL_UPDATED,
            _V.REFUSE_CHECKPOINT,
            _V.REFUSE_THREAD,
            _V.NOTHING_TO_ERASE,
        ),
        HeadState.COMPLETED: (
            _V.NEW_TURN,
            _V.REFUSE_RESUME,
            _V.REFUSE_RESUME,
            _V.KEEP_STATUS,
            _V.FAIL_UPDATED,
            _V.NEW_HEAD,
            _V.NO_CHANGE,
            _V.ERASE,
        ),
        HeadState.SUSPENDED: (
            _V.REFUSE_SUSPENDED,
            _V.CONTINUE,
            _V.REFUSE_RESUME,
            _V.REFUSE_SUSPENDED,
            _V.REFUSE_SUSPENDED,
            _V.NEW_HEAD,
            _V.FAIL_CANCELLED,
            _V.ERASE,
        ),
        HeadState.FAILED: (
            _V.NEW_TURN,
            _V.REFUSE_RESUME,
            _V.CONTINUE,
            _V.KEEP_STATUS,
            _V.FAIL_UPDATED,
            _V.NEW_HEAD,
            _V.NO_CHANGE,
            _V.ERASE,
        ),
        HeadState.RUNNING: (
            _V.BUSY_POLICY,
            _V.BUSY_POLICY,
            _V.BUSY_POLICY,
            _V.BUSY_POLICY,
            _V.BUSY_POLICY,
            _V.BUSY_POLICY,
            _V.FLAG_AND_AWAIT,
            _V.ERASE,
        ),
        HeadState.INTERRUPTED: (
            _V.REFUSE_INTERRUPTED,
            _V.REFUSE_INTERRUPTED,
            _V.CONTINUE,
            _V.REFUSE_INTERRUPTED,
            _V.REFUSE_INTERRUPTED,
            _V.NEW_HEAD,
            _V.FAIL_CANCELLED,
            _V.ERASE,
        ),
    }.items()
}

_FORCED = {Command.WRITE: _V.KEEP_STATUS, Command.WRITE_AS_NODE: _V.FAIL_UPDATED}


def head_state(status: Status | None, run_alive: bool) -> HeadState:
    """How a thread stands: its head's status, and whether a run of it is alive."""
    if status is None:
        return HeadState.NONE
    if status is Status.IN_PROGRESS:
        return HeadState.RUNNING if run_alive else HeadState.INTERRUPTED
    return HeadState(status.value)


def judge(state: HeadState, command: Command, *, forced: bool = False) -> Verdict:
    """The cell of the table.

    `forced` lets a write through to a suspended thread, which keeps its approvals; written as a node they are void, for the run moves on.
    """
    verdict = TABLE[state][command]
    if forced and verdict is Verdict.REFUSE_SUSPENDED:
        return _FORCED.get(command, verdict)
    return verdict
