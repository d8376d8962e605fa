"""The state table, cell by cell, and how a thread stands for it."""

from __future__ import annotations

import pytest

from clew_engine.rules import TABLE, Command, HeadState, Verdict, head_state, judge
from clew_storage import Status

# semantics: Head x command, a word a cell.
COMMANDS = ("send", "decide", "retry", "write", "write_as_node", "rewind", "cancel", "delete")
CELLS = {
    "none": (
        "start_thread",
        "resume_invalid",
        "resume_invalid",
        "create",
        "fail_updated",
        "checkpoint_not_found",
        "thread_not_found",
        "nothing_to_erase",
    ),
    "completed": (
        "new_turn",
        "resume_invalid",
        "resume_invalid",
        "keep_status",
        "fail_updated",
        "new_head",
        "no_change",
        "erase",
    ),
    "suspended": (
        "thread_suspended",
        "continue",
        "resume_invalid",
        "thread_suspended",
        "thread_suspended",
        "new_head",
        "fail_cancelled",
        "erase",
    ),
    "failed": (
        "new_turn",
        "resume_invalid",
        "continue",
        "keep_status",
        "fail_updated",
        "new_head",
        "no_change",
        "erase",
    ),
    "running": ("busy_policy",) * 6 + ("flag_and_await", "erase"),
    "interrupted": (
        "thread_interrupted",
        "thread_interrupted",
        "continue",
        "thread_interrupted",
        "thread_interrupted",
        "new_head",
        "fail_cancelled",
        "erase",
    ),
}


@pytest.mark.parametrize("head", CELLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_cell(head: str, command: str) -> None:
    assert judge(HeadState(head), Command(command)) == CELLS[head][COMMANDS.index(command)]


def test_the_table_is_whole() -> None:
    assert {state.value for state in TABLE} == set(CELLS)
    assert all(set(row) == set(Command) for row in TABLE.values())


def test_every_verdict_stands_somewhere() -> None:
    assert {verdict for row in TABLE.values() for verdict in row.values()} == set(Verdict)


@pytest.mark.parametrize("head", CELLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_force_changes_the_writes_of_a_suspended_thread_alone(head: str, command: str) -> None:
    forced = judge(HeadState(head), Command(command), forced=True)
    if (head, command) == ("suspended", "write"):
        assert forced is Verdict.KEEP_STATUS
    elif (head, command) == ("suspended", "write_as_node"):
        assert forced is Verdict.FAIL_UPDATED
    else:
        assert forced == judge(HeadState(head), Command(command))


@pytest.mark.parametrize(
    ("status", "alive", "state"),
    [
        (None, False, "none"),
        (Status.COMPLETED, False, "completed"),
        (Status.SUSPENDED, False, "suspended"),
        (Status.FAILED, False, "failed"),
        (Status.IN_PROGRESS, True, "running"),
        (Status.IN_PROGRESS, False, "interrupted"),
        (Status.COMPLETED, True, "completed"),
    ],
)
def test_a_head_stands_by_its_status_and_whether_its_run_is_alive(
    status: Status | None, alive: bool, state: str
) -> None:
    assert head_state(status, alive) == state
