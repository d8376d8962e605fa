"""What the cases are played against: an agent for each case that has rules, and the workflows that cases name. Served by `clew serve`.

Tools tell the player that they run, through the socket that CLEW_GOLDEN_GATES names, and wait there where the case keeps a gate closed.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict

from clew_engine import Agent, OfflineModel, StateView, Tool, ToolContext, Workflow, append, pause, step_sync, tool

CASES = Path(__file__).parent / "cases"


async def _gate(tool_name: str, context: ToolContext) -> None:
    """Say that a call runs, and wait until it may."""
    reader, writer = await asyncio.open_unix_connection(os.environ["CLEW_GOLDEN_GATES"])
    try:
        writer.write(json.dumps({"thread": context.thread_id, "tool": tool_name}).encode() + b"\n")
        await writer.drain()
        if not await reader.readline():
            raise RuntimeError("the player is gone")
    finally:
        writer.close()


async def look_up(order: str, context: ToolContext) -> str:
    """Look an order up."""
    await _gate("look_up", context)
    return f"order {order}: 40 EUR"


async def check(order: str, context: ToolContext) -> dict[str, Any]:
    """Check an order, and answer with data."""
    await _gate("check", context)
    return {"order": order, "big": 2**53 + 1, "ok": True}


async def refund(order: str, amount: int, context: ToolContext) -> str:
    """Pay an order back."""
    await _gate("refund", context)
    return f"refunded {amount} EUR of {order}"


async def charge(order: str, context: ToolContext) -> str:
    """Charge for an order, which must not happen twice."""
    await _gate("charge", context)
    return f"charged for {order}"


async def fails(context: ToolContext) -> str:
    """Raise."""
    await _gate("fails", context)
    raise ValueError("it did not work")


async def write_at_length(size: int, context: ToolContext) -> str:
    """So many letters."""
    await _gate("write_at_length", context)
    return "x" * size


_TOOLS = (look_up, check, refund, charge, fails, write_at_length)


def _agent(name: str, told: Mapping[str, Any]) -> Agent:
    tools = [_tool(function, told) for function in _TOOLS if function.__name__ in told.get("tools", ())]
    return Agent(name, model=OfflineModel.from_data(told["rules"]), tools=tools, approve=list(told.get("approve", ())))


def _tool(function: Any, told: Mapping[str, Any]) -> Tool:
    return tool(once=function.__name__ in told.get("once", ()))(function)


class Invoice(TypedDict, total=False):
    """The state of an invoice."""

    number: str
    by: str
    receipt: str
    log: Annotated[list[str], append]


def _invoices(name: str) -> Any:
    flow = Workflow(name, state=Invoice)

    @flow.node
    def ask(state: StateView) -> Invoice:
        by = pause({"pay": state["number"]})["by"]
        return {"by": by, "log": [f"approved by {by}"]}

    @flow.node
    def pay(state: StateView) -> Invoice:
        receipt = step_sync("transfer", lambda: f"receipt of {state['number']}", once=True)
        return {"receipt": receipt, "log": ["paid"]}

    flow.start("ask")
    flow.edge("ask", "pay")
    return flow.compile()


for _file in sorted(CASES.glob("*.json")):
    _case = json.loads(_file.read_text(encoding="utf-8"))
    _name = _file.stem.replace("_", "-")
    if "agent" in _case:
        globals()[_file.stem] = _agent(_name, _case["agent"])
    elif _case.get("workflow") == "invoices":
        globals()[_file.stem] = _invoices(_name)
