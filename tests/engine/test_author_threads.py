"""Authors' plain functions: one that hangs, exits or interrupts holds nobody else back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from clew_engine import Agent, OfflineModel
from clew_engine.author_threads import THREADS
from clew_engine.models.offline_rules import after, when
from clew_engine.tools import tool

CONTEXT: ContextVar[str] = ContextVar("context", default="none")


async def test_hung_functions_do_not_keep_others_from_starting() -> None:
    release = threading.Event()
    began = [threading.Event() for _ in range(100)]
    hung: list[Any] = []
    for event in began:

        def hang(event: threading.Event = event) -> None:
            event.set()
            release.wait()

        hung.append(asyncio.ensure_future(THREADS.call(hang)))
    assert await THREADS.call(lambda: "another") == "another"
    for event in began:
        assert await THREADS.call(event.wait, 30)
    release.set()
    await asyncio.gather(*hung)


async def test_a_function_runs_in_the_context_of_its_caller() -> None:
    CONTEXT.set("mine")
    assert await THREADS.call(CONTEXT.get) == "mine"


@pytest.mark.parametrize("error", [ValueError, StopIteration, KeyboardInterrupt, SystemExit])
async def test_whatever_a_tool_raises_is_the_outcome_of_its_call(error: type[BaseException]) -> None:
    @tool
    def plain() -> str:
        """A tool."""
        raise error

    @tool
    async def awaited() -> str:
        """Another."""
        raise error

    model = OfflineModel([after("plain", "awaited").say("told"), when("go").call("plain").call("awaited")])
    thread = Agent("a", model=model, tools=[plain, awaited]).thread("t")
    assert (await thread.send("go")).text == "told"
    results = [part for each in await thread.messages() for part in each["content"] if part["type"] == "tool_result"]
    assert [part["outcome"] for part in results] == ["failed", "failed"]
    await thread.storage.close()


SCRIPT = """
import time
from clew_engine import Agent, Limits, OfflineModel
from clew_engine.models.offline_rules import when
from clew_engine.tools import tool

@tool
def hang() -> str:
    "Never ends."
    while True:
        time.sleep(1)

model = OfflineModel([when("go").call("hang")])
thread = Agent("a", model=model, tools=[hang]).thread("t", limits=Limits(tool_seconds=0.2))
try:
    thread.send_sync("go")
except Exception as error:
    print(error.failure_code)
"""


def test_a_script_ends_though_a_tool_of_it_hangs() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "limit_exceeded\n"
