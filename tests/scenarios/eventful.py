"""A thread on which everything that is logged has happened."""

from __future__ import annotations

from tests.scenarios.heads import refund
from tests.scenarios.scripts import ask, rejected
from tests.scenarios.sights import Seen, Turn
from tests.scenarios.world import Handle, World


async def eventful(world: World) -> tuple[Handle, list[Turn]]:
    """A thread on which everything that is logged has happened, and what its callers saw."""

    def note() -> str:
        return "noted"

    calls = [ask("note"), ask("refund", amount=1), ask("refund", amount=2)]
    world.agent(calls, rejected(), "one", "two", "three", tools=[note, refund], approve=["refund"])
    thread = await world.thread()
    turns = [await thread.send("first")]
    one, other = turns[0].approvals
    turns.append(await thread.decide({one: True}))
    turns.append(await thread.decide({other: {"reject": "no"}}))
    turns.append(await thread.retry())
    turns.append(await thread.send("second"))
    return thread, turns


def logged(turns: list[Turn]) -> list[Seen]:
    """What is in the log of what the callers saw."""
    return [event for turn in turns for event in turn.logged]
