"""Agents that the tests of the server serve."""

from __future__ import annotations

import asyncio

from clew_engine import Agent, OfflineModel, tool
from clew_engine.models.offline_rules import after, otherwise, when


@tool
def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}: 40 EUR"


@tool
def refund(order: str, amount: int) -> str:
    """Refund an order."""
    return f"refunded {amount} EUR of {order}"


def support() -> Agent:
    """Looks an order up and, when a person allows it, refunds it."""
    rules = [
        after("refund", outcome="rejected").say("It was not allowed."),
        after("refund").say("Done: your money is on its way."),
        after("look_up").call("refund", order="A-1", amount=40),
        when("refund").say("Let me see. ").call("look_up", order="A-1"),
        otherwise.say("Hello."),
    ]
    return Agent(
        "support",
        model=OfflineModel(rules),
        tools=[look_up, refund],
        approve=["refund"],
        description="Answers about orders.",
    )


class Gate:
    """An agent whose tool runs until a test lets it go, and says when it has begun and ended."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.opened = asyncio.Event()
        self.ended = asyncio.Event()
        self.runs = 0
        self.cancelled = 0
        self.agent = Agent(
            "gate",
            model=OfflineModel([after("wait").say("Through."), when("wait").call("wait"), otherwise.say("Hello.")]),
            tools=[tool(self.wait)],
        )

    async def wait(self) -> str:
        """Wait for the gate to open."""
        self.runs += 1
        self.began.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.ended.set()
        return "open"


def echo() -> Agent:
    """Says what the user said."""
    return Agent("echo", model=OfflineModel.from_function(lambda turn: turn.user))
