"""docs/clients.md: a language without a client, and the terminal, drive a thread from the contract alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, snippets

PAGE = "docs/clients.md"
CLEW = str(Path(sys.executable).with_name("clew"))
GEN = ROOT / ".deps" / "gen" / "bin"
GOOGLEAPIS = ROOT / ".deps" / "googleapis"


@pytest.fixture
def target(tmp_path: Path) -> Iterator[str]:
    """Where the agent of the page is served."""
    command = [CLEW, "serve", str(ROOT / "examples" / "support.py"), "--storage", "memory://", "--port", "0", "--json"]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=tmp_path) as server,
    ):
        assert server.stdout is not None
        line = server.stdout.readline()
        assert line, (tmp_path / "log").read_text()
        yield str(json.loads(line)["address"])
        server.terminate()
        server.wait(30)


def run(command: list[str], folder: Path, **environment: str) -> str:
    """What a command prints; its errors are this test's."""
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_program_of_stubs_alone_drives_a_thread(target: str, tmp_path: Path) -> None:
    if not (shutil.which("ruby") and shutil.which("grpc_ruby_plugin") and GOOGLEAPIS.exists()):
        pytest.skip("no ruby, no plugin of protoc, or no googleapis (`make check` gets them)")
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    (tmp_path / "gen").mkdir()
    stubs, *_ = snippets(PAGE, "sh")
    run(["bash", "-ec", stubs], tmp_path, GOOGLEAPIS=str(GOOGLEAPIS))
    (program,) = snippets(PAGE, "ruby")
    assert len(program.strip().splitlines()) <= 40
    told = run(["ruby", "-e", program], tmp_path, CLEW_TARGET=target)
    assert "order A-1001" in told
    assert told.endswith("run_completed\n")


def test_the_terminal_drives_a_thread(target: str, tmp_path: Path) -> None:
    if not (GEN / "buf").exists():
        pytest.skip("no buf (`make check` gets it)")
    _, asking, deciding = snippets(PAGE, "sh")
    environment = {"PATH": f"{GEN}{os.pathsep}{os.environ['PATH']}", "CLEW": f"http://{target}"}
    asked = run(["bash", "-ec", asking], tmp_path, **environment)
    assert '"runSuspended"' in asked
    assert json.loads((tmp_path / "waiting.json").read_text())["approvals"][0]["tool"] == "refund"
    decided = run(["bash", "-ec", deciding], tmp_path, **environment)
    assert decided.count('"runCompleted"') == 2, "in the answer's stream, and in what is watched again"
