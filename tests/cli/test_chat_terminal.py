from __future__ import annotations

from tests.cli.conftest import Cli
from tests.cli.terminal import CTRL_C, CTRL_D


def test_a_conversation_on_a_terminal(cli: Cli) -> None:
    with cli.terminal("chat", "support", "--thread", "typed") as terminal:
        assert "support on thread typed" in terminal.wait_for("\n> ")
        terminal.enter("refund A-1")
        assert "Looking at A-1." in terminal.wait_for("[l]ater? ")
        terminal.enter("a")
        terminal.wait_for("Paid 49.90 for A-1.")
        terminal.wait_for("\n> ")
        terminal.enter("/quit")
        assert terminal.ended() == 0


def test_ctrl_c_cancels_the_run_and_retry_continues_it(cli: Cli) -> None:
    with cli.terminal("chat", "support", "--thread", "stopped") as terminal:
        terminal.wait_for("\n> ")
        terminal.enter("wait")
        terminal.wait_for("It goes on and on")
        terminal.press(CTRL_C)
        terminal.wait_for("cancelled, and saved")
        terminal.wait_for("\n> ")
        assert cli.json("threads", "show", "stopped")["status"] == "failed"
        terminal.enter("/retry")
        terminal.wait_for("It goes on and on")
        terminal.press(CTRL_C)
        terminal.wait_for("cancelled, and saved")
        terminal.wait_for("\n> ")
        terminal.press(CTRL_D)
        assert terminal.ended() == 0
    sources = [checkpoint["source"] for checkpoint in cli.json_lines("threads", "history", "stopped")]
    assert sources == ["failure", "retry", "failure", "input"]


def test_arguments_are_there_to_be_edited(cli: Cli) -> None:
    with cli.terminal("chat", "support") as terminal:
        terminal.wait_for("\n> ")
        terminal.enter("refund A-1")
        terminal.wait_for("[l]ater? ")
        terminal.enter("e")
        terminal.wait_for("49.9}")
        terminal.enter("\b" * len("49.9}") + "5}")
        terminal.wait_for("Paid 5.00 for A-1.")


def test_a_call_with_an_unknown_outcome_is_settled_by_a_person(cli: Cli) -> None:
    with cli.terminal("chat", "support", "--thread", "unknown") as terminal:
        terminal.wait_for("\n> ")
        terminal.enter("ship it")
        terminal.wait_for("→ ship")
        terminal.press(CTRL_C)
        terminal.wait_for("nobody knows whether it took effect")
        terminal.wait_for("[l]ater? ")
        terminal.enter('g "sent"')
        terminal.wait_for("It ended with sent.")


def test_ctrl_c_at_a_question_puts_it_off(cli: Cli) -> None:
    with cli.terminal("chat", "support", "--thread", "asked") as terminal:
        terminal.wait_for("\n> ")
        terminal.enter("refund A-1")
        terminal.wait_for("[l]ater? ")
        terminal.press(CTRL_C)
        terminal.wait_for("it waits")
        terminal.enter("/approvals")
        terminal.wait_for("[l]ater? ")
        terminal.enter("r")
        terminal.wait_for("why")
        terminal.enter("no")
        terminal.wait_for("Not approved: no")
