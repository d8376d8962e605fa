"""The operator's script, on threads that apps have left: each command a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew_engine import Agent, OfflineModel, Storage
from clew_engine.models.offline_rules import otherwise

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(folder: Path, example: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """An example, run in a folder."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments],
        cwd=folder,
        env={**os.environ, "USER": "ada"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def mended(folder: Path, *arguments: str) -> list[str]:
    """The lines that the script prints."""
    done = played(folder, "mend_thread.py", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_value_is_corrected_and_the_apps_retry_goes_on(tmp_path: Path) -> None:
    assert "an invoice is of more than 0" in played(tmp_path, "approval_over_days.py", "submit", "INV-7", "-12").stderr
    assert mended(tmp_path, "list", "--status", "failed") == ["INV-7  invoices  failed  version 2"]
    shown = mended(tmp_path, "show", "INV-7")
    assert shown[0] == "INV-7 of invoices: failed, version 2"
    assert "an invoice is of more than 0" in shown[1]
    assert shown[2:] == ["  next: check", '  number = "INV-7"', "  amount = -12.0"]
    assert mended(tmp_path, "set", "INV-7", "amount=12", "--dry-run") == ["amount: -12.0 -> 12", "nothing was written"]
    assert mended(tmp_path, "list") == ["INV-7  invoices  failed  version 2"]
    assert mended(tmp_path, "set", "INV-7", "amount=12")[-1] == "written as version 3, failed"
    retried = played(tmp_path, "approval_over_days.py", "retry", "INV-7")
    assert retried.stdout.splitlines() == ["INV-7 is of 12.00", "paid"]
    assert mended(tmp_path, "list", "--status", "failed") == []


def test_a_thread_that_waits_is_changed_by_force_alone(tmp_path: Path) -> None:
    played(tmp_path, "approval_over_days.py", "submit", "INV-8", "1200")
    refused = played(tmp_path, "mend_thread.py", "set", "INV-8", "amount=1100")
    assert (refused.returncode, refused.stderr[:17]) == (1, "thread_suspended:")
    assert mended(tmp_path, "set", "INV-8", "amount=1100", "--force")[-1] == "written as version 4, suspended"
    assert played(tmp_path, "approval_over_days.py", "approve", "INV-8").stdout.splitlines()[-1] == "paid"


def test_a_message_is_edited_in_its_place(tmp_path: Path) -> None:
    storage = Storage(f"sqlite://{tmp_path / 'invoices.db'}")
    agent = Agent("helper", model=OfflineModel([otherwise.say("Hello.")]), storage=storage)
    agent.thread("talk").send_sync("My card is 4111")
    storage.aclose_sync()
    assert mended(tmp_path, "show", "talk")[1:] == ["  [m1.0] user: My card is 4111", "  [m2.0] assistant: Hello."]
    edit = ("edit", "talk", "m1.0", "My card is no matter")
    changed = "m1.0: 'My card is 4111' -> 'My card is no matter'"
    assert mended(tmp_path, *edit, "--dry-run") == [changed, "nothing was written"]
    assert mended(tmp_path, *edit) == [changed, "written as version 3, completed"]
    assert mended(tmp_path, "show", "talk")[1] == "  [m1.0] user: My card is no matter"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("show", "nobody"), 1, "thread_not_found"),
        (("list", "--status", "odd"), 1, "argument_invalid: status"),
        (("set", "t", "amount"), 2, "write KEY=JSON"),
        (("set", "t", "amount=many"), 2, "is no JSON"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = played(tmp_path, "mend_thread.py", *arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
