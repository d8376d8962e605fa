"""`clew serve` as a process, with an agent for the tests of the command line: it can also hang, fail, and leave an outcome unknown."""

from __future__ import annotations

import asyncio

from clew_engine import Agent, OfflineModel, ToolContext, tool
from clew_engine.models import after, otherwise, when


@tool
def look_up_order(order_id: str) -> dict[str, object]:
    """Find an order."""
    return {"order_id": order_id, "total": 49.9}


@tool(once=True)
def refund(order_id: str, amount: float) -> str:
    """Pay money back."""
    return f"{amount:.2f} for {order_id}"


@tool(once=True)
async def ship(order_id: str, call: ToolContext) -> str:
    """Send it; the first time takes for ever."""
    del order_id, call
    await asyncio.Event().wait()
    return "never"


rules = [
    when(r"refund (?P<order_id>A-\d+)").say("Looking at {order_id}.").call("look_up_order", order_id="{order_id}"),
    after("look_up_order").call("refund", order_id="{result.order_id}", amount="{result.total}"),
    after("refund", outcome="rejected").say("Not approved: {result}"),
    after("refund").say("Paid {result}."),
    when("ship").call("ship", order_id="A-1"),
    after("ship").say("It ended with {result}."),
    when("wait").say("It goes on and on").hang(),
    when("overload").fail("model_rejected", "no credit left"),
    when("escape").say("red \x1b[31mnot red"),
    otherwise.say("You said: {user}"),
]
support = Agent(
    "support",
    description="Orders and refunds.",
    model=OfflineModel(rules),
    tools=[look_up_order, refund, ship],
    approve=["refund"],
)
