from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew import Client
from tests.cli.terminal import Terminal

CLEW = str(Path(sys.executable).with_name("clew"))
APPS = Path(__file__).with_name("served_support.py")


def run_clew(
    *arguments: str | Path,
    folder: Path | None = None,
    given: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in a folder, with this text in its pipe and these variables beside those that are set."""
    return subprocess.run(
        [CLEW, *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **(environment or {})},
    )


def unframed(printed: str) -> str:
    """The words of a help page or a refusal, without the frame around them and on one line."""
    return " ".join(printed.replace("│", "").split())


@dataclass(frozen=True)
class Cli:
    """The real command, against one server."""

    target: str
    client: Client
    pid: int = 0
    database: Path | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CLEW_TARGET": self.target}

    def run(self, *arguments: str, lines: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, with these lines in its pipe."""
        return run_clew(
            *arguments, given="".join(f"{line}\n" for line in lines), environment={"CLEW_TARGET": self.target}
        )

    def shown(self, *arguments: str, lines: Sequence[str] = ()) -> str:
        """What a command that must succeed prints."""
        done = self.run(*arguments, lines=lines)
        assert done.returncode == 0, done
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """The one JSON value that a command prints."""
        return json.loads(self.shown(*arguments, "--json"))

    def json_lines(self, *arguments: str) -> list[Any]:
        """The JSON values that a command prints, one a line."""
        return [json.loads(line) for line in self.shown(*arguments, "--json").splitlines()]

    def terminal(self, *arguments: str) -> Terminal:
        """A command on a terminal."""
        return Terminal([CLEW, *arguments], self.environment)

    def suspended(self, thread: str) -> str:
        """A thread that waits for the approval of a refund; gives the approval's id."""
        (waiting,) = self.client.app("support").thread(thread).send_sync("refund A-7").approvals
        return waiting.id

    def talked(self, thread: str) -> None:
        """A thread of two turns, versions 1 to 4."""
        for text in ("one", "two"):
            self.client.app("support").thread(thread).send_sync(text)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command, and a server of the tests' own on a SQLite file."""
    folder = tmp_path_factory.mktemp("served")
    command = [CLEW, "serve", str(APPS), "--port", "0", "--json", "--storage", f"sqlite://{folder / 'cli.db'}"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line, (folder / "log").read_text()
        target = json.loads(line)["address"]
        with Client(target) as client:
            yield Cli(target, client, server.pid, folder / "cli.db")
        server.terminate()
        server.wait(30)
