from __future__ import annotations

import json

from tests.cli.conftest import Cli
from tests.cli.terminal import CTRL_C


def test_the_inbox_lists_what_waits_across_threads(cli: Cli) -> None:
    ids = {cli.suspended("inbox-1"), cli.suspended("inbox-2")}

    listed = {each["id"]: each for each in cli.json_lines("approvals", "list")}

    assert ids <= listed.keys()
    assert {listed[each]["thread_id"] for each in ids} == {"inbox-1", "inbox-2"}
    assert all(listed[each]["arguments"] == {"order_id": "A-7", "amount": 49.9} for each in ids)
    assert all(each in cli.shown("approvals", "list") for each in ids)


def test_one_approval_is_shown_with_all_that_it_asks_and_how_it_ended(cli: Cli) -> None:
    approval = cli.suspended("shown")

    waiting = cli.shown("approvals", "show", approval)
    assert all(word in waiting for word in (approval, "pending", "refund", '"amount":49.9', "shown"))
    cli.shown("approvals", "reject", approval, "--reason", "too old", "--actor", "ada")

    ended = cli.json("approvals", "show", approval)
    assert (ended["state"], ended["reason"], ended["decided_by"]) == ("rejected", "too old", "ada")
    assert ended["arguments"] == {"order_id": "A-7", "amount": 49.9}
    assert "too old" in cli.shown("approvals", "show", approval)


def test_an_approval_whose_call_was_deleted_tells_who_decided_and_not_what(cli: Cli) -> None:
    approval = cli.suspended("erased")
    cli.shown("approvals", "reject", approval, "--reason", "too old", "--actor", "ada")
    thread = cli.client.thread("erased")
    (asked,) = [
        each["id"] for each in thread.messages_sync() if '"refund"' in json.dumps(each) and each["role"] == "assistant"
    ]
    thread.delete_message_sync(asked)

    ended = cli.json("approvals", "show", approval)
    assert (ended["state"], ended["decided_by"], ended["tool"]) == ("rejected", "ada", "refund")
    assert (ended["arguments"], ended["arguments_json"], ended["arguments_digest"], ended["reason"]) == (
        None,
        "",
        "",
        "",
    )
    assert "too old" not in cli.shown("approvals", "show", approval)
    (listed,) = cli.json_lines("approvals", "list", "--thread", "erased", "--state", "rejected")
    assert listed == ended


def test_one_approval_that_is_not_there_is_refused_in_one_line(cli: Cli) -> None:
    done = cli.run("approvals", "show", "nothing.a1.0")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "approval_not_found" in done.stderr


def test_an_approval_is_approved_by_its_id_and_the_run_followed(cli: Cli) -> None:
    approval = cli.suspended("approved")

    shown = cli.shown("approvals", "approve", approval, "--actor", "ada")

    assert "Paid 49.90 for A-7." in shown
    (decided,) = cli.json_lines("approvals", "list", "--thread", "approved", "--state", "approved")
    assert decided["decided_by"] == "ada"


def test_an_approval_can_run_with_other_arguments(cli: Cli) -> None:
    approval = cli.suspended("edited")

    said = cli.json("approvals", "approve", approval, "--arguments", '{"order_id": "A-7", "amount": 1}')

    assert said["type"] == "run_completed"
    assert said["reply"]["text"] == "Paid 1.00 for A-7."


def test_a_rejection_carries_its_reason(cli: Cli) -> None:
    approval = cli.suspended("rejected")

    assert "Not approved: too old" in cli.shown("approvals", "reject", approval, "--reason", "too old")


def test_a_call_with_an_unknown_outcome_is_given_its_result(cli: Cli) -> None:
    with cli.terminal("chat", "support", "--thread", "outcome") as terminal:
        terminal.wait_for("\n> ")
        terminal.enter("ship it")
        terminal.wait_for("→ ship")
        terminal.press(CTRL_C)
        terminal.wait_for("[l]ater? ")
    (asked,) = cli.json_lines("approvals", "list", "--thread", "outcome")
    assert asked["kind"] == "tool_outcome"

    assert "It ended with sent." in cli.shown("approvals", "decide", asked["id"], "--result", '"sent"')


def test_a_second_decision_is_refused(cli: Cli) -> None:
    approval = cli.suspended("twice")
    cli.shown("approvals", "approve", approval)

    done = cli.run("approvals", "reject", approval, "--json")

    assert done.returncode == 1
    assert json.loads(done.stderr)["error"]["code"] in ("approval_already_decided", "resume_invalid")


def test_watch_shows_what_waits_and_every_change(cli: Cli) -> None:
    approval = cli.suspended("watched")

    with cli.terminal("approvals", "watch", "--thread", "watched", "--json") as terminal:
        terminal.wait_for('"state": "pending"')
        cli.shown("approvals", "approve", approval)
        terminal.wait_for('"state": "approved"')
        terminal.press(CTRL_C)
        assert terminal.ended() == 130


def test_an_approval_that_is_not_there_is_refused(cli: Cli) -> None:
    done = cli.run("approvals", "approve", "nothing.a1.0")

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "approval_not_found" in done.stderr


def test_approvals_of_several_threads_are_not_decided_together(cli: Cli) -> None:
    ids = cli.suspended("both-1"), cli.suspended("both-2")

    assert cli.run("approvals", "approve", *ids).returncode == 2


def test_exactly_one_answer_is_taken(cli: Cli) -> None:
    assert cli.run("approvals", "decide", "x").returncode == 2
    assert cli.run("approvals", "decide", "x", "--run-again", "--fail", "no").returncode == 2
    assert cli.run("approvals", "decide", "x", "--result", "{").returncode == 2
