"""The examples of workflows, as a reader would run them: offline, each command a process of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(folder: Path, example: str, *arguments: str, **environment: str) -> str:
    """What an example prints, run in a folder."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_approval_waits_for_another_process_and_pays_once(tmp_path: Path) -> None:
    asked = played(tmp_path, "approval_over_days.py", "submit", "INV-7", "1200")
    assert asked == "INV-7 is of 1200.00\nwaits: {'pay': 'INV-7', 'amount': 1200.0}\n"
    # Days go by: whatever the clock of the run said is long over.
    database = sqlite3.connect(tmp_path / "invoices.db")
    database.execute("UPDATE approvals SET created_at_ms = created_at_ms - 259200000")
    database.commit()
    database.close()
    done = played(tmp_path, "approval_over_days.py", "approve", "INV-7", USER="ada")
    assert done.splitlines() == ["INV-7 is of 1200.00", "approved by ada", "paid"]


def test_a_rejection_ends_without_a_payment_and_a_small_amount_waits_for_nobody(tmp_path: Path) -> None:
    played(tmp_path, "approval_over_days.py", "submit", "INV-8", "500")
    assert played(tmp_path, "approval_over_days.py", "reject", "INV-8").splitlines()[-1] == "not paid: not ours"
    assert played(tmp_path, "approval_over_days.py", "submit", "INV-9", "5").splitlines()[-1] == "paid"


def test_documents_are_counted_side_by_side_and_joined(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text("a thread " * (number + 1) + "clew " * 3)
    found = played(tmp_path, "map_reduce.py", str(tmp_path)).split()
    assert found == ["55", "a", "55", "thread", "30", "clew"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Where is order A-1002?", "can wait"),
        ("Please refund order A-1001", "urgent"),
    ],
)
def test_an_agent_answers_within_a_workflow(tmp_path: Path, text: str, answer: str) -> None:
    lines = played(tmp_path, "agent_in_workflow.py", text).splitlines()
    assert lines[:2] == [text, f"  {answer}"]
    expected = "is on its way" if answer == "can wait" else "The refund was not approved"
    assert expected in lines[2]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["approval_over_days.py", "submit", "A", "-1"],
            "A: node 'check' failed: ValueError: an invoice is of more than 0",
        ),
        (["approval_over_days.py", "approve", "B"], "B: "),
        (["map_reduce.py", "/nonexist"], "/nonexist is no folder"),
    ],
    ids=["negative", "nothing waits", "no folder"],
)
def test_what_goes_wrong_is_one_line(tmp_path: Path, command: list[str], said: str) -> None:
    example, *arguments = command
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
