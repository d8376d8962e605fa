"""The command line and workflows: what waits is shown with what it asks, answered, and chat says what to use."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable

from clew import Client
from clew_engine import Storage, Workflow, append, pause
from tests.cli.conftest import run_clew, unframed
from tests.support.serving import serving


def workflow() -> Workflow:
    """Two nodes that ask at once."""
    flow = Workflow("invoices", reducers={"log": append})
    for name in ("ada", "bob"):
        flow.node(lambda _, name=name: {"log": [[name, pause({"pay": 7, "asks": name})]]}, name=name)
    flow.start("ada", "bob")
    return flow


Run = Callable[..., subprocess.CompletedProcess[str]]


async def on_a_server(play: Callable[[Run], None]) -> None:
    """Play with the command line against a server with a workflow whose thread `t` waits."""
    async with Storage("memory://") as storage, serving([workflow().compile()], storage) as served:
        async with Client(served.target) as client:
            await client.workflow("invoices").thread("t").run({"number": "INV-7"})

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return run_clew(*arguments, given="", environment={"CLEW_TARGET": served.target})

        await asyncio.to_thread(play, run)


async def test_a_thread_shows_its_nodes_and_each_question_and_is_answered() -> None:
    def play(run: Run) -> None:
        shown = run("threads", "show", "t")
        assert shown.returncode == 0, shown.stderr
        assert "ada, bob" in shown.stdout
        assert shown.stdout.count("waits for an answer") == 2
        assert all(name in shown.stdout.split("waits for", 1)[1] for name in ("asks", "ada", "bob"))
        waiting = json.loads(run("threads", "show", "t", "--json").stdout)["approvals"]
        for each in waiting:
            decided = run("approvals", "decide", each["id"], "--value", '"yes"')
            assert decided.returncode in (0, 3), decided.stderr
        state = json.loads(run("threads", "show", "t", "--json").stdout)["state"]
        assert state == {"number": "INV-7", "log": [["ada", "yes"], ["bob", "yes"]]}

    await on_a_server(play)


async def test_chat_says_that_a_workflow_takes_values_and_what_to_use() -> None:
    def play(run: Run) -> None:
        for command in (("chat",), ("chat", "invoices")):
            refused = run(*command)
            assert refused.returncode == 2
            text = unframed(refused.stderr)
            assert "takes values and no messages" in text
            assert "client.workflow('invoices').thread(ID).run" in text

    await on_a_server(play)


async def test_the_state_is_set_as_a_node_and_says_what_comes_next() -> None:
    def play(run: Run) -> None:
        values = ("threads", "state", "set", "t", '{"log": [["ada", "by hand"]]}', "--as-node", "ada")
        refused = run(*values)
        assert (refused.returncode, "--force" in refused.stderr or "waits" in refused.stderr) == (1, True)
        written = run(*values, "--force")
        assert written.returncode == 0, written.stderr
        assert "failed" in written.stdout + written.stderr
        shown = json.loads(run("threads", "show", "t", "--json").stdout)
        assert (shown["status"], shown["pending_approvals"]) == ("failed", 0)
        unknown = run("threads", "state", "set", "t", "{}", "--as-node", "eve")
        assert "'eve'" in unknown.stderr
        assert "ada, bob" in unknown.stderr

    await on_a_server(play)


async def test_the_state_of_a_new_thread_is_set_as_a_node_of_the_app_that_is_named() -> None:
    def play(run: Run) -> None:
        values = ("threads", "state", "set", "new", '{"log": [["ada", "by hand"]]}', "--as-node", "ada")
        refused = run(*values)
        assert (refused.returncode, "name the one it is for" in refused.stderr) == (1, True)
        written = run(*values, "--app", "invoices")
        assert written.returncode == 0, written.stderr
        shown = json.loads(run("threads", "show", "new", "--json").stdout)
        assert (shown["app"], shown["state"]) == ("invoices", {"log": [["ada", "by hand"]]})
        other = run(*values, "--app", "other")
        assert (other.returncode, "'other'" in other.stderr) == (1, True)

    await on_a_server(play)
