from __future__ import annotations

import json
import subprocess
from pathlib import Path

from clew import Client
from tests.cli.conftest import APPS, CLEW, Cli


def a_server(folder: Path, port: str = "0") -> tuple[subprocess.Popen[str], str]:
    """A server on the folder's database, and its address."""
    command = [CLEW, "serve", str(APPS), "--json", "--storage", f"sqlite://{folder / 'restart.db'}", "--port", port]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    line = server.stdout.readline()
    if not line:
        stopped(server)
        raise AssertionError("the server did not start")
    return server, str(json.loads(line)["address"])


def stopped(server: subprocess.Popen[str]) -> None:
    server.kill()
    server.communicate()


def test_a_conversation_goes_on_after_its_server_was_killed_and_restarted(tmp_path: Path) -> None:
    server, target = a_server(tmp_path)
    try:
        with Client(target) as client, Cli(target, client).terminal("chat", "support", "--thread", "t") as terminal:
            terminal.wait_for("\n> ")
            terminal.enter("refund A-1")
            terminal.wait_for("[l]ater? ")
            terminal.enter("a")
            terminal.wait_for("Paid 49.90 for A-1.")
            terminal.wait_for("\n> ")
            terminal.enter("wait")
            terminal.wait_for("It goes on and on")
            stopped(server)
            server, _ = a_server(tmp_path, target.rpartition(":")[2])
            terminal.wait_for("(thread_interrupted)")
            terminal.wait_for("/retry continues it")
            terminal.enter("/retry")
            terminal.wait_for("It goes on and on")
    finally:
        stopped(server)
