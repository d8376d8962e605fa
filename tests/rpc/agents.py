"""Agents that the tests of the server serve."""

from __future__ import annotations

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
