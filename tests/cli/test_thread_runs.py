from __future__ import annotations

import contextlib
import json

import pytest

import clew
from tests.cli.conftest import Cli
from tests.cli.terminal import CTRL_C


def failed(cli: Cli, thread: str, then: str = "overload") -> None:
    """A thread whose run has failed; `then` is what its message says when it is retried."""
    handle = cli.client.app("support").thread(thread)
    with contextlib.suppress(clew.RunFailedError):
        handle.send_sync("overload")
    handle.update_message_sync("m1.0", then)


def test_a_retry_streams_what_follows(cli: Cli) -> None:
    failed(cli, "retried", then="hello again")

    assert cli.shown("threads", "retry", "retried") == "You said: hello again\n"


def test_a_retry_that_fails_again_says_so_with_exit_code_1(cli: Cli) -> None:
    failed(cli, "hopeless")

    done = cli.run("threads", "retry", "hopeless")

    assert done.returncode == 1
    assert "no credit left" in done.stdout


def test_a_retry_that_comes_to_wait_names_the_approval_with_exit_code_3(cli: Cli) -> None:
    failed(cli, "waiting", then="refund A-7")

    done = cli.run("threads", "retry", "waiting", "--actor", "ada")

    (waiting,) = cli.client.approvals.list_sync(thread_id="waiting")
    assert done.returncode == 3
    assert waiting.requested_by == "ada"
    assert f"clew approvals approve {waiting.id}" in done.stdout.splitlines()[-1]
    assert "→ look_up_order" in done.stdout


@pytest.mark.parametrize(("then", "code"), [("hello", 0), ("overload", 1), ("refund A-7", 3)])
def test_a_retry_gives_its_events_as_json_with_the_same_exit_codes(cli: Cli, then: str, code: int) -> None:
    thread = f"told-{code}"
    failed(cli, thread, then=then)

    done = cli.run("threads", "retry", thread, "--json")

    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == code
    assert {each["thread_id"] for each in events} == {thread}
    assert (events[0]["type"], events[0]["attempt"]) == ("run_started", 2)
    assert events[-1]["type"] == {0: "run_completed", 1: "run_failed", 3: "run_suspended"}[code]
    if code == 0:
        assert "".join(each["text"] for each in events if each["type"] == "text_delta") == "You said: hello"
        assert events[-1]["reply"]["text"] == "You said: hello"


def test_a_retry_that_is_refused_is_one_line_on_stderr(cli: Cli) -> None:
    cli.talked("fine")

    done = cli.run("threads", "retry", "fine")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "resume_invalid" in done.stderr
    error = json.loads(cli.run("threads", "retry", "fine", "--json").stderr)["error"]
    assert error["code"] == "resume_invalid"


def test_ctrl_c_stops_the_run_that_was_retried(cli: Cli) -> None:
    failed(cli, "stopped", then="wait")

    with cli.terminal("threads", "retry", "stopped") as terminal:
        terminal.wait_for("It goes on and on")
        terminal.press(CTRL_C)
        assert terminal.ended() == 130

    newest = cli.json_lines("threads", "history", "stopped")[0]
    assert (newest["status"], newest["failure_code"]) == ("failed", "cancelled")


def test_a_run_is_cancelled_from_elsewhere(cli: Cli) -> None:
    failed(cli, "left", then="wait")

    with cli.terminal("threads", "retry", "left") as terminal:
        terminal.wait_for("It goes on and on")
        run = cli.json("threads", "show", "left")["run"]["run_id"]
        other = cli.run("threads", "cancel", "left", "--run", run.replace(".r", ".r9"))
        assert (other.returncode, "run_not_found" in other.stderr) == (1, True)
        assert cli.json("threads", "cancel", "left", "--run", run)["failure_code"] == "cancelled"
        terminal.wait_for("cancelled, and saved")
        assert terminal.ended() == 1


def test_what_waits_is_given_up(cli: Cli) -> None:
    approval = cli.suspended("given-up")

    assert cli.shown("threads", "cancel", "given-up") == "the run is cancelled, version 6 (failed)\n"
    assert cli.client.approvals.get_sync(approval).state == "void"


def test_where_nothing_runs_nothing_is_cancelled(cli: Cli) -> None:
    cli.talked("at-rest")

    assert cli.shown("threads", "cancel", "at-rest") == "nothing is left to cancel, version 4 (completed)\n"
    done = cli.run("threads", "cancel", "never-was")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "thread_not_found" in done.stderr
