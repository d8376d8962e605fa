"""What a workflow's own code raises is in the log with its traceback, once, and nothing is printed where nobody configured logging."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, ClewError, Migration, OfflineModel, Storage, Workflow, pause, step
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError, RunFailedError, StateInvalidError
from clew_engine.models.offline_rules import otherwise
from tests.workflows.lone import lone


def broken(*_: Any) -> Any:
    """An author's mistake."""
    raise LookupError("here is why")


async def step_of_a_node(_: Any) -> None:
    """A node with a step that it lets pass."""
    await step("look", broken)


def reducing() -> Workflow:
    """Its reducer is the mistake."""
    return lone(lambda _: {"a": 1}, reducers={"a": broken})


def branching() -> Workflow:
    """Its branch is the mistake."""
    flow = lone(lambda _: {"a": 1})
    flow.branch("only", broken, ["only"])
    return flow


def around(inner: Workflow) -> Workflow:
    """A workflow with another as its node."""
    flow = Workflow("outer")
    flow.workflow(inner.compile(), name="inner")
    flow.start("inner")
    return flow


def asking_an_agent(**settings: Any) -> Workflow:
    """A workflow with an agent as its node."""
    flow = Workflow("asks")
    agent = Agent("writer", model=OfflineModel([otherwise.say("Hello.")]), **settings)
    flow.agent(agent, ask=lambda _: "hello", keep="said")
    flow.start("writer")
    return flow


def broken_elsewhere(_: Any) -> Any:
    """What it raises is an error of Clew's, of another thread, say."""
    raise ResumeInvalidError("here is why", thread_id="other")


class Hook:
    """Of an agent in a workflow."""

    before_step = staticmethod(broken)


def the_error(caplog: pytest.LogCaptureFixture) -> str:
    """The one error in the log."""
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    return record.getMessage()


@pytest.mark.parametrize(
    ("flow", "named"),
    [
        pytest.param(lambda: lone(broken), "node 'only'", id="a node"),
        pytest.param(lambda: lone(broken_elsewhere), "node 'only'", id="a node, with an error of Clew's"),
        pytest.param(lambda: lone(step_of_a_node), "node 'only'", id="a step"),
        pytest.param(reducing, "the reducer of 'a'", id="a reducer"),
        pytest.param(branching, "the branch after 'only'", id="a branch"),
        pytest.param(lambda: around(lone(broken)), "node 'inner/0.only'", id="a node inside"),
        pytest.param(lambda: around(reducing()), "node 'inner'", id="a reducer inside"),
        pytest.param(lambda: asking_an_agent(hooks=[Hook()]), "hook Hook.before_step", id="a hook"),
    ],
)
async def test_what_fails_a_run_is_logged_once(
    storage: Storage, caplog: pytest.LogCaptureFixture, flow: Callable[[], Workflow], named: str
) -> None:
    with pytest.raises(RunFailedError, match="here is why"):
        await flow().compile(storage).thread("t").run()
    logged = the_error(caplog)
    assert named in logged
    assert "thread t" in logged
    assert "Traceback (most recent call last)" in logged
    assert "in broken" in logged


async def test_each_of_several_nodes_is_logged(storage: Storage, caplog: pytest.LogCaptureFixture) -> None:
    flow = Workflow("two")
    flow.node(broken, name="a")
    flow.node(broken, name="b")
    flow.start("a", "b")
    for app in (flow, around(flow)):
        with pytest.raises(RunFailedError):
            await app.compile(storage).thread(app.name).run()
    said = [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    assert sorted(line.partition(" raised")[0].partition(": ")[2] for line in said) == [
        "node 'a'",
        "node 'b'",
        "node 'inner/0.a'",
        "node 'inner/0.b'",
    ]


async def test_a_migrator_that_raises_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = f"sqlite://{tmp_path / 'clew.db'}"
    async with Storage(database) as storage:
        await lone(lambda _: pause("?")).compile(storage).thread("t").run({"a": 1})
    async with Storage(database) as storage:
        newer = lone(lambda _: pause("?"), version=2, migrate={1: Migration(state=broken)})
        with pytest.raises(StateInvalidError, match="here is why"):
            await newer.compile(storage).thread("t").resume(1)
    logged = the_error(caplog)
    assert "the migrator 'broken' raised" in logged
    assert "in broken" in logged


@pytest.mark.parametrize(("flow", "named"), [(reducing, "the reducer of 'a'"), (branching, "the branch after 'only'")])
async def test_a_write_as_a_node_logs_what_its_code_raises(
    storage: Storage, caplog: pytest.LogCaptureFixture, flow: Callable[[], Workflow], named: str
) -> None:
    thread = flow().compile(storage).thread("t")
    with pytest.raises((StateInvalidError, ArgumentInvalidError), match="here is why"):
        await thread.update_state({"a": 1}, as_node="only")
    logged = the_error(caplog)
    assert named in logged
    assert "in broken" in logged


async def test_what_clew_itself_refuses_is_told_and_not_logged(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    flow = Workflow("w")
    flow.node(lambda _: {"a": 1}, name="a")
    flow.node(lambda _: {"a": 2}, name="b")
    flow.start("a", "b")
    refused = [flow, lone(lambda _: "no mapping"), lone(lambda _: {"a": "x" * (2 << 20)})]
    for number, each in enumerate(refused):
        with pytest.raises(RunFailedError):
            await each.compile(storage).thread(str(number)).run()
    thread = lone(lambda _: {"a": pause("?")}).compile(storage).thread("rejected")
    (asked,) = (await thread.run()).approvals
    with pytest.raises(ClewError, match="PauseRejectedError"):
        await thread.decide({asked.id: {"reject": "no"}})
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


SCRIPT = """
import sys
from clew_engine import Agent, ClewError, Model, Workflow

if "logged" in sys.argv:
    import logging
    logging.basicConfig()

def broken(*_):
    raise LookupError("here is why")

class Hook:
    before_step = staticmethod(broken)

class Broken(Model):
    name = "broken"
    async def stream(self, request):
        broken()
        yield

flow = Workflow("flow")
flow.node(broken, name="only")
flow.start("only")
failing = [
    lambda: flow.compile().thread("t").run_sync(),
    lambda: flow.compile().run_sync(),
    lambda: Agent("a", hooks=[Hook()]).thread("t").send_sync("hello"),
    lambda: Agent("a", model=Broken()).thread("t").send_sync("hello"),
]
for fail in failing:
    try:
        fail()
    except ClewError as error:
        assert "here is why" in str(error), error
    else:
        raise AssertionError(fail)
"""


@pytest.mark.parametrize("configured", [False, True], ids=["nobody configured logging", "logging is configured"])
def test_in_process_it_is_printed_only_where_logging_is_configured(tmp_path: Path, configured: bool) -> None:
    played = subprocess.run(
        [sys.executable, "-c", SCRIPT, *(["logged"] if configured else [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert played.stderr.count("LookupError: here is why") == (4 if configured else 0)
    assert configured or played.stderr == ""
