"""Scripts with blocking forms that are interrupted, or end in the middle of a stream."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

AGENT = """
import sys
from clew_engine import Agent, OfflineModel, Storage
from clew_engine.models.offline_rules import when
from clew_engine.tools import tool
import asyncio

@tool
async def hang() -> str:
    "Waits."
    print("waiting", flush=True)
    await asyncio.sleep(3600)
    return ""

model = OfflineModel([when("go").call("hang"), when("say").say("a word or two")])
agent = Agent("a", model=model, tools=[hang], storage=Storage(f"sqlite://{sys.argv[1]}"))
thread = agent.thread("t")
"""


def script(code: str, database: Path) -> subprocess.Popen[str]:
    """A script with an agent on a file."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", AGENT + code, str(database)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_run_that_ctrl_c_ends_is_saved_as_cancelled(tmp_path: Path) -> None:
    with script('thread.send_sync("go")\n', tmp_path / "clew.db") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "waiting\n"
        running.send_signal(signal.SIGINT)
        _, complaints = running.communicate(timeout=60)
    assert running.returncode in (1, 130, -signal.SIGINT)
    assert complaints.rstrip().endswith("KeyboardInterrupt")
    with script("print(thread.info_sync().status)\n", tmp_path / "clew.db") as looking:
        assert looking.communicate(timeout=60) == ("failed\n", "")


def test_a_script_that_ends_in_the_middle_of_a_stream_ends_without_a_word(tmp_path: Path) -> None:
    code = 'stream = iter(thread.stream_sync("say"))\nprint(next(stream).type)\n'
    with script(code, tmp_path / "clew.db") as running:
        assert running.communicate(timeout=60) == ("run_started\n", "")
    assert running.returncode == 0


def test_a_storage_that_blocking_forms_use_says_so_to_an_event_loop(tmp_path: Path) -> None:
    code = """
thread.send_sync("say")
async def more() -> None:
    await thread.send("say")
try:
    asyncio.run(more())
except Exception as error:
    print(error.code)
"""
    with script(code, tmp_path / "clew.db") as running:
        assert running.communicate(timeout=60) == ("argument_invalid\n", "")
