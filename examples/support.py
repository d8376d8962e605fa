"""A support agent: it looks orders up, ships replacements, and refunds when a person approves.

    clew serve examples/support.py            # then, in another terminal: clew chat support

It answers by rules, so that it needs no key and no network. For a model that thinks, name one:
`CLEW_MODEL=openai:gpt-5-mini` or `CLEW_MODEL=anthropic:claude-sonnet-4-5` (with the provider's key in the environment).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from clew_engine import Agent, OfflineModel, ToolContext, open_model, tool
from clew_engine.models import Rule, after, otherwise, when

ORDERS: dict[str, dict[str, Any]] = {
    "A-1001": {"item": "kettle", "total": 49.9, "status": "delivered"},
    "A-1002": {"item": "desk lamp", "total": 25.0, "status": "on its way"},
    "A-1003": {"item": "bookcase", "total": 120.0, "status": "delivered"},
}


@tool
def look_up_order(order_id: str, call: ToolContext) -> dict[str, Any]:
    """Find an order by its number, such as A-1001."""
    order_id, order = _order(order_id)
    _record(call, "look_up_order", order_id)
    return {"order_id": order_id, **order}


@tool
def ship_replacement(order_id: str, call: ToolContext) -> dict[str, Any]:
    """Send the customer the same item again."""
    order_id, order = _order(order_id)
    _record(call, "ship_replacement", order_id)
    return {"order_id": order_id, "item": order["item"], "arrives_in_days": 3}


@tool(once=True)
def refund(order_id: str, amount: float, call: ToolContext) -> dict[str, Any]:
    """Pay money back to the customer; at most what the order cost."""
    order_id, order = _order(order_id)
    if not 0 < amount <= order["total"]:
        raise ValueError(f"order {order_id} cost {order['total']:.2f}, so a refund is more than 0 and at most that")
    _record(call, "refund", order_id, amount)
    return {"order_id": order_id, "refunded": f"{amount:.2f}"}


def _order(order_id: str) -> tuple[str, dict[str, Any]]:
    order_id = order_id.strip().upper()
    if order_id not in ORDERS:
        raise ValueError(f"there is no order {order_id}; there are {', '.join(ORDERS)}")
    return order_id, ORDERS[order_id]


def _record(call: ToolContext, name: str, order_id: str, amount: float | None = None) -> None:
    """Write down that a tool really ran: one line of the file CLEW_LEDGER, on disk before the tool goes on."""
    if not (path := os.environ.get("CLEW_LEDGER")):
        return
    line = {"tool": name, "order_id": order_id, "amount": amount, "key": call.idempotency_key, "pid": os.getpid()}
    with Path(path).open("a", encoding="utf-8") as ledger:
        ledger.write(json.dumps(line) + "\n")
        ledger.flush()
        os.fsync(ledger.fileno())


def _rules() -> list[Rule]:
    refunded = after("refund", outcome="done")
    if os.environ.get("CLEW_HOLD"):  # a demonstration stops in the middle of this answer
        refunded = refunded.say("Done: {result.refunded} for order {result.order_id} is").hang()
    else:
        refunded = refunded.say("Done: {result.refunded} for order {result.order_id} is on its way to you.")
    return [
        when(r"\b(?P<order_id>A-\d+)")
        .say("Let me look at order {order_id}.")
        .call("look_up_order", order_id="{order_id}"),
        after("look_up_order", is_error=True).say("I know no such order; I know A-1001, A-1002 and A-1003."),
        after("look_up_order", user=r"refund|money back|return").call(
            "refund", order_id="{result.order_id}", amount="{result.total}"
        ),
        after("look_up_order", user=r"replace|broken|damaged").call("ship_replacement", order_id="{result.order_id}"),
        after("look_up_order").say("Order {result.order_id}, a {result.item} for {result.total}, is {result.status}."),
        after("ship_replacement").say("A new {result.item} arrives in {result.arrives_in_days} days."),
        after("refund", outcome="rejected").say("The refund was not approved. {result}"),
        after("refund", is_error=True).say("The refund did not go through. {result}"),
        refunded,
        otherwise.say("I can look up, replace or refund an order. Try: Please refund order A-1001"),
    ]


_model = os.environ.get("CLEW_MODEL")

agent = Agent(
    "support",
    description="Looks orders up, ships replacements, and refunds when a person approves.",
    model=open_model(_model) if _model else OfflineModel(_rules(), delay_ms=25),
    instructions=(
        "You are the support desk of a small shop. Look an order up before you speak of it. "
        "Offer a refund of at most what the order cost, and be brief."
    ),
    tools=[look_up_order, ship_replacement, refund],
    approve=["refund"],
)
