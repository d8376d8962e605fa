"""Every piece of the README that can run without a network runs, as it stands but for the port."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, snippets

CLEW = str(Path(sys.executable).with_name("clew"))


def commands(place: int) -> list[list[str]]:
    """The commands of one piece of shell, on this environment."""
    lines = snippets("README.md", "sh")[place].splitlines()
    return [
        shlex.split(line.replace(".venv/bin/clew", CLEW).replace("examples/", f"{ROOT}/examples/")) for line in lines
    ]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of whoever talks to the server that the README starts."""
    folder = tmp_path_factory.mktemp("readme")
    (serve,) = commands(0)
    with subprocess.Popen([*serve, "--port", "0", "--json"], cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield {**os.environ, "CLEW_TARGET": json.loads(server.stdout.readline())["address"]}
        finally:
            server.terminate()


def run(
    command: list[str], folder: Path, environment: dict[str, str], lines: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, input=lines, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("place", [0, 2])
def test_what_runs_in_process_prints_what_the_readme_says(tmp_path: Path, place: int) -> None:
    code = snippets("README.md", "python")[place]

    run([sys.executable, "-c", code], tmp_path, dict(os.environ))
    done = run([sys.executable, "-c", code], tmp_path, dict(os.environ))  # the second time, too

    promised = [
        line.partition(")  # ")[2]
        for line in code.splitlines()
        if line.startswith(("print(", "    print(")) and ")  # " in line
    ]
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, promised, "")


def test_the_agent_takes_fifteen_lines() -> None:
    code = snippets("README.md", "python")[0]

    assert len([line for line in code.splitlines() if line.strip()]) <= 15


def test_a_client_and_the_command_line_talk_to_a_server(served: dict[str, str], tmp_path: Path) -> None:
    client = run([sys.executable, "-c", snippets("README.md", "python")[1]], tmp_path, served)

    assert (client.returncode, client.stderr) == (0, "")
    assert "approval_requested" in client.stdout
    assert "run_suspended" in client.stdout
    assert client.stdout.splitlines()[-1].endswith("the order is too old")

    chat, watch, history = commands(1)
    assert run(chat, tmp_path, served, "Please refund order A-1002\nlater\n").returncode == 3
    with subprocess.Popen(watch, env=served, stdout=subprocess.PIPE, text=True) as inbox:
        assert inbox.stdout is not None
        try:
            assert "ticket-9" in inbox.stdout.readline()
        finally:
            inbox.send_signal(signal.SIGINT)
    assert run(history, tmp_path, served).returncode == 0


@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/agents.md", "docs/architecture.md", "docs/cli.md", "docs/guarantees.md", "docs/workflows.md"],
)
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, heading = target.partition("#")
        there = (ROOT / page).parent / path if path else ROOT / page
        assert there.exists(), target
        headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE) if heading else []
        assert not heading or heading in {_anchor(each) for each in headings}, target


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
