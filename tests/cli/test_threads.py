from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Cli


def test_threads_are_listed_and_filtered(cli: Cli) -> None:
    cli.talked("listed-1")
    cli.talked("listed-2")
    cli.suspended("listed-3")

    def listed(*arguments: str) -> list[str]:
        return [thread["thread_id"] for thread in cli.json_lines("threads", "list", "-q", "listed", *arguments)]

    assert listed() == ["listed-3", "listed-2", "listed-1"]
    assert listed("--limit", "1") == ["listed-3"]
    assert listed("--status", "suspended", "--app", "support") == ["listed-3"]
    assert listed("--app", "shop") == []
    assert listed("--user", "ada") == []


def test_a_row_in_a_pipe_is_one_line(cli: Cli) -> None:
    name = "long-" + "x" * 100
    cli.talked(name)

    (row,) = [line for line in cli.shown("threads", "list").splitlines() if line.startswith(name)]

    assert row.split()[:3] == [name, "support", "completed"]


def test_a_table_fits_80_columns_on_a_terminal(cli: Cli) -> None:
    cli.talked("wide-" + "x" * 100)

    with cli.terminal("threads", "list") as terminal:
        assert terminal.ended() == 0

    assert max(map(len, terminal.shown.splitlines())) <= 80
    assert "completed" in terminal.shown


def test_nothing_is_said_on_stderr_so_that_programs_read_nothing(cli: Cli) -> None:
    done = cli.run("threads", "list", "-q", "no such thread")

    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "no threads")


def test_a_thread_is_shown_with_what_it_waits_for(cli: Cli) -> None:
    approval = cli.suspended("shown")

    shown = cli.json("threads", "show", "shown")

    assert (shown["status"], shown["pending_approvals"], shown["state"]) == ("suspended", 1, {})
    assert [each["id"] for each in shown["approvals"]] == [approval]
    assert approval in cli.shown("threads", "show", "shown")


def test_history_and_messages(cli: Cli) -> None:
    cli.talked("told")

    assert [each["version"] for each in cli.json_lines("threads", "history", "told", "-n", "3")] == [4, 3, 2]
    texts = [message["content"][0]["text"] for message in cli.json_lines("threads", "messages", "told")]
    assert texts == ["one", "You said: one", "two", "You said: two"]
    assert "You said: two" in cli.shown("threads", "messages", "told")


def test_messages_are_found_by_their_words(cli: Cli) -> None:
    cli.talked("searched")

    found = [each["content"][0]["text"] for each in cli.json_lines("threads", "messages", "searched", "-s", "SAID two")]
    assert found == ["You said: two"]
    assert "no messages" in cli.run("threads", "messages", "searched", "--search", "%").stderr


def test_state_is_set_read_and_cleared(cli: Cli) -> None:
    assert cli.shown("threads", "state", "set", "stated", '{"a": 1, "b": [1.5]}').startswith("version 1 has")
    assert cli.json("threads", "state", "set", "stated", '{"c": null}', "--remove", "a")["source"] == "update"
    assert json.loads(cli.shown("threads", "state", "get", "stated")) == {"b": [1.5], "c": None}
    cli.shown("threads", "state", "set", "stated", '{"d": "é"}', "--replace")
    assert json.loads(cli.shown("threads", "state", "get", "stated")) == {"d": "é"}
    cli.shown("threads", "state", "clear", "stated")
    assert json.loads(cli.shown("threads", "state", "get", "stated")) == {}
    assert cli.run("threads", "state", "set", "stated", "[1]").returncode == 2
    assert cli.run("threads", "state", "clear", "never was").returncode == 1


def test_a_suspended_threads_state_is_only_set_by_force(cli: Cli) -> None:
    cli.suspended("forced")

    assert cli.run("threads", "state", "set", "forced", '{"a": 1}').returncode == 1
    assert cli.json("threads", "state", "set", "forced", '{"a": 1}', "--force")["status"] == "suspended"


def test_rewind_takes_a_version_or_an_id(cli: Cli) -> None:
    cli.talked("rewound")

    assert cli.shown("threads", "rewind", "rewound", "2") == "version 5 continues 2 (completed)\n"
    assert len(cli.json_lines("threads", "messages", "rewound")) == 2
    newest = cli.json_lines("threads", "history", "rewound")[0]["id"].replace(".5", ".4")
    assert cli.json("threads", "rewind", "rewound", newest)["source"] == "fork"
    assert len(cli.json_lines("threads", "messages", "rewound")) == 4


@pytest.mark.parametrize("command", ["rewind unwound 99", "rewind unwound v99", "copy unwound other --at 99"])
def test_a_version_that_is_not_there_is_named_as_it_was_typed(cli: Cli, command: str) -> None:
    cli.talked("unwound")

    done = cli.run("threads", *command.split())

    assert done.returncode == 1
    typed = command.rpartition(" ")[2]
    assert f"'unwound' has no version {typed!r};" in done.stderr
    assert done.stderr.endswith("(checkpoint_not_found)\n")


def test_a_copy_is_a_thread_of_its_own(cli: Cli) -> None:
    cli.talked("copied")

    assert cli.shown("threads", "copy", "copied", "copied-2", "--at", "2").startswith("copied is copied to copied-2")
    cli.shown("threads", "delete", "copied", "--yes")
    assert len(cli.json_lines("threads", "messages", "copied-2")) == 2


def test_a_delete_is_asked_for_on_a_terminal(cli: Cli) -> None:
    cli.talked("doomed")

    with cli.terminal("threads", "delete", "doomed") as terminal:
        terminal.wait_for("for good?")
        terminal.enter("y")
        terminal.wait_for("doomed is deleted")

    assert cli.json("threads", "delete", "doomed", "--yes") == {"thread_id": "doomed", "existed": False}


def test_a_delete_from_a_pipe_needs_a_yes(cli: Cli) -> None:
    cli.talked("kept")

    assert cli.run("threads", "delete", "kept").returncode == 2
    assert cli.json("threads", "show", "kept")["status"] == "completed"
