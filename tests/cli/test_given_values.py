"""An empty value of an option is refused as not understood: it is what a shell makes of a variable that is not set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import run_clew, unframed

DATABASE = ("--storage", "sqlite://none.db")
# What each command may be given empty, behind what it must be given.
GIVEN = {
    ("serve", "none.py"): ("--storage", "--redis", "--host", "--socket", "--snapshot-key", "--port-file"),
    ("threads", "list"): ("--app", "--user"),
    ("threads", "cancel", "t"): ("--run", "--actor"),
    ("threads", "retry", "t"): ("--actor",),
    ("threads", "copy", "t", "u"): ("--at",),
    ("threads", "state", "get", "t"): ("--at",),
    ("threads", "state", "set", "t", "{}"): ("--as-node", "--app"),
    ("approvals", "list"): ("--thread", "--app", "--user"),
    ("approvals", "watch"): ("--thread", "--app", "--user"),
    ("approvals", "approve", "a"): ("--arguments", "--actor"),
    ("approvals", "decide", "a", "--run-again"): ("--result", "--fail", "--value"),
    ("chat", "desk"): ("--thread", "--actor"),
    ("export", "x.jsonl", *DATABASE): ("--app", "--user"),
    ("export", "x.jsonl", *DATABASE, "--thread", "t"): ("--thread",),
    ("retention", *DATABASE, "--keep-last", "3"): ("--older-than", "--user"),
    ("retention", *DATABASE, "--keep-last", "3", "--app", "desk"): ("--app",),
}
EMPTY = [(*command, option, "") for command, options in GIVEN.items() for option in options]


@pytest.mark.parametrize("arguments", EMPTY, ids=" ".join)
def test_an_empty_value_is_not_understood(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run_clew(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    words = unframed(done.stderr)
    assert f"Invalid value for '{arguments[-2]}'" in words or f"/ '{arguments[-2]}'" in words
    assert "it is empty; give a value, or leave it out" in words
    assert list(tmp_path.iterdir()) == []


def test_an_empty_name_of_an_app_is_not_taken_for_the_only_one() -> None:
    done = run_clew("chat", "")
    assert done.returncode == 2
    assert "it is empty" in done.stderr


def test_for_programs_it_is_one_line() -> None:
    done = run_clew("threads", "list", "--app", "", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    told = json.loads(done.stderr)["error"]
    assert told["code"] == "usage"
    assert "'--app'" in told["message"]


def test_what_is_left_out_and_what_the_environment_leaves_empty_is_none(tmp_path: Path) -> None:
    done = run_clew(
        "export", "x.jsonl", "--storage", "sqlite://none.db", "--json", folder=tmp_path, environment={"CLEW_ACTOR": ""}
    )
    assert done.returncode == 1
    assert json.loads(done.stderr)["error"]["code"] == "storage_unavailable"
    away = run_clew("approvals", "approve", "a", "--target", "localhost:1", "--json", environment={"CLEW_ACTOR": ""})
    assert json.loads(away.stderr)["error"]["code"] == "unavailable"
