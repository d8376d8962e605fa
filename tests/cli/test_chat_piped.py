from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_each_line_of_a_pipe_is_a_turn(cli: Cli) -> None:
    shown = cli.shown("chat", "support", "--thread", "turns", lines=["hello", "", "again"])

    assert shown == "> hello\nYou said: hello\n> \n> again\nYou said: again\n"


def test_a_line_answers_an_approval(cli: Cli) -> None:
    shown = cli.shown("chat", "support", "--thread", "piped", lines=["refund A-1", "approve"])

    assert '→ look_up_order order_id="A-1"' in shown
    assert '? refund waits for your approval\n    order_id: "A-1"\n    amount: 49.9\n' in shown
    assert shown.endswith("← refund 49.90 for A-1\nPaid 49.90 for A-1.\n")


def test_a_reason_reaches_the_model(cli: Cli) -> None:
    assert "Not approved: too old" in cli.shown("chat", "support", lines=["refund A-1", "reject too old"])


def test_edited_arguments_are_what_runs(cli: Cli) -> None:
    shown = cli.shown("chat", "support", lines=["refund A-1", 'edit {"order_id": "A-1", "amount": 5}'])

    assert "Paid 5.00 for A-1." in shown


def test_arguments_that_the_tool_does_not_take_are_asked_for_again(cli: Cli) -> None:
    done = cli.run("chat", "support", lines=["refund A-1", "edit {}", "edit nonsense", "what", "approve"])

    assert done.returncode == 0
    assert "argument_invalid" in done.stderr
    assert "not JSON" in done.stdout
    assert "'what' is none of these" in done.stdout


def test_an_approval_that_is_put_off_is_exit_code_3_and_can_be_answered_later(cli: Cli) -> None:
    cli.suspended("put-off")

    shown = cli.shown("chat", "support", "--thread", "put-off", lines=["approve", "thanks"])

    assert "Paid 49.90 for A-7." in shown
    assert "You said: thanks" in shown


def test_the_end_of_the_input_puts_an_approval_off(cli: Cli) -> None:
    assert cli.run("chat", "support", "--thread", "cut-off", lines=["refund A-1"]).returncode == 3


def test_a_run_that_fails_is_exit_code_1_and_ends_the_conversation(cli: Cli) -> None:
    done = cli.run("chat", "support", lines=["overload", "never said"])

    assert done.returncode == 1
    assert "the run failed, and is saved: no credit left (model_rejected)" in done.stdout
    assert "never said" not in done.stdout


def test_without_a_name_the_only_app_is_taken(cli: Cli) -> None:
    assert "You said: hello" in cli.shown("chat", lines=["hello"])


@pytest.mark.parametrize("lines", [[], ["hello"]])
def test_an_app_that_is_not_there_is_named_before_anything_is_read(cli: Cli, lines: list[str]) -> None:
    done = cli.run("chat", "shop", lines=lines)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "shop" in done.stderr
    assert "support" in done.stderr


def test_control_characters_of_a_model_are_shown_and_not_obeyed(cli: Cli) -> None:
    shown = cli.shown("chat", "support", lines=["escape"])

    assert "\x1b" not in shown
    assert "red ␛[31mnot red" in shown


def test_history_and_rewind(cli: Cli) -> None:
    lines = ["one", "two", "/history 1", "/rewind 2", "/messages", "/nothing"]

    shown = cli.shown("chat", "support", "--thread", "back", lines=lines)

    assert "back at 2; version 5 continues it (completed)" in shown
    messages = shown.partition("> /messages\n")[2]
    assert "You said: one" in messages
    assert "You said: two" not in messages
    assert "there is no /nothing" in messages
