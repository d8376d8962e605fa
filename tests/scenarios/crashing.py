"""A process of its own that works on a SQLite file until it is killed: `python crashing.py FILE PLAN LEDGER`.

It says `ready` on its output when it stands where the plan wants it, and then waits for the end.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import NoReturn

from clew_engine import Agent, Storage, tool
from tests.scenarios.scripts import ScriptedModel, ask

LEDGER = Path(sys.argv[3] if __name__ == "__main__" else os.devnull)


async def stand_still() -> NoReturn:
    """Say that the point is reached, and wait for the kill."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()
    raise AssertionError


def note(line: str) -> None:
    """Append to the ledger, durably."""
    with LEDGER.open("a") as ledger:
        ledger.write(f"{line}\n")
        ledger.flush()
        os.fsync(ledger.fileno())


@tool
def quick() -> str:
    """Finishes at once."""
    note("quick")
    return "quick"


@tool
async def slow() -> str:
    """Never finishes in this process."""
    note("slow")
    await stand_still()


@tool(once=True)
async def pay() -> str:
    """Never finishes in this process, and must not be started twice."""
    note("pay")
    await stand_still()


PLANS = {
    "model": lambda: Agent("app", model=ScriptedModel(["half", stand_still])),
    "tool": lambda: Agent("app", model=ScriptedModel([ask("quick"), ask("slow")]), tools=[quick, slow]),
    "once": lambda: Agent("app", model=ScriptedModel(ask("pay")), tools=[pay]),
    "approval": lambda: Agent("app", model=ScriptedModel(ask("quick")), tools=[quick], approve=True),
    "acknowledged": lambda: Agent("app", model=ScriptedModel("ok")),
}


async def main(file: str, plan: str) -> None:
    """Play the plan."""
    agent = PLANS[plan]()
    agent = Agent(
        "app",
        model=agent.model,
        tools=list(agent.tools.values()),
        approve=tuple(agent.gated),
        storage=Storage(f"sqlite://{file}"),
    )
    thread = agent.thread("t")
    if plan == "tool":
        stream = thread.stream("hello", mood="good")
        async for event in stream:
            if event.type == "tool_call_finished":
                note("recorded")
    await thread.send("hello", request_id="r1", mood="good")
    await stand_still()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
