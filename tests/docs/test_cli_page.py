from __future__ import annotations

import re

import typer

from clew_server.cli import COMMANDS
from clew_server.cli.approvals import approvals
from clew_server.cli.threads import threads
from tests.docs.snippets import ROOT, snippets


def _names(group: typer.Typer) -> set[str]:
    commands = {each.name or each.callback.__name__ for each in group.registered_commands if each.callback}
    return commands | {each.name for each in group.registered_groups if each.name}


GROUPS = {"threads": _names(threads), "approvals": _names(approvals)}


def test_the_page_names_every_command_and_no_other() -> None:
    table = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `clew (\w+) ?([^`]*)`", table, re.MULTILINE)

    assert {name for name, _ in rows} == set(COMMANDS)
    assert {name: set(rest.split(", ")) for name, rest in rows if name in GROUPS} == GROUPS


def test_every_command_in_its_pieces_is_there() -> None:
    for line in "".join(snippets("docs/cli.md", "sh")).splitlines():
        name, second, *_ = [*line.partition("clew ")[2].split(), "", ""]
        assert name in COMMANDS, line
        assert name not in GROUPS or second in GROUPS[name], line
