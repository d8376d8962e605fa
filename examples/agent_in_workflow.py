"""A ticket goes through a workflow: it is sorted, an agent answers it with its tools, and the answer is filed.

    python examples/agent_in_workflow.py "Where is order A-1001?" "Please refund order A-1001"

The agent answers by rules and needs no key. Its refund waits for a person, as it would in a conversation; here the answer is read from
the terminal. Where the input is no terminal nothing is approved.
"""

from __future__ import annotations

import sys
from typing import Annotated, TypedDict

from clew_engine import Agent, Approval, OfflineModel, StateView, Workflow, WorkflowApp, append, tool
from clew_engine.models import after, otherwise, when

STATUS = {"A-1001": "delivered", "A-1002": "on its way"}


@tool
def status_of(order: str) -> str:
    """How an order stands."""
    return STATUS.get(order, "unknown here")


@tool(once=True)
def refund(order: str) -> str:
    """Pay an order back."""
    return f"{order} is paid back"


agent = Agent(
    "support",
    model=OfflineModel(
        [
            after("refund", outcome="rejected").say("The refund was not approved."),
            after("refund").say("Done: {result}."),
            after("status_of").say("Order {order} is {result}."),
            when(r"refund.*(?P<order>A-\d+)").call("refund", order="{order}"),
            when(r"(?P<order>A-\d+)").call("status_of", order="{order}"),
            otherwise.say("Which order?"),
        ]
    ),
    tools=[status_of, refund],
    approve=["refund"],
)


class Ticket(TypedDict, total=False):
    """A ticket on its way."""

    text: str
    urgent: bool
    answer: str
    log: Annotated[list[str], append]


def workflow() -> WorkflowApp:
    """Sort → support (an agent) → file."""
    flow = Workflow("tickets", state=Ticket, description="Sorts tickets and answers them.")

    @flow.node
    def sort(state: StateView) -> Ticket:
        urgent = "refund" in state["text"].lower()
        return {"urgent": urgent, "log": ["urgent" if urgent else "can wait"]}

    @flow.node
    def file(state: StateView) -> Ticket:
        return {"log": [f"answered: {state['answer']}"]}

    flow.agent(agent, ask="text", keep="answer")
    flow.start("sort")
    flow.edge("sort", "support")
    flow.edge("support", "file")
    return flow.compile()


def may(approval: Approval) -> bool:
    """Ask whoever sits there."""
    if not sys.stdin.isatty():
        return False
    return input(f"{approval.tool} {approval.arguments}? [y/N] ").strip().lower() == "y"


def main(texts: list[str]) -> None:
    """One thread a ticket."""
    app = workflow()
    for number, text in enumerate(texts):
        thread = app.thread(f"ticket-{number}")
        result = thread.run_sync({"text": text})
        while result.approvals:
            result = thread.decide_sync({each.id: may(each) for each in result.approvals})
        print(f"{text}\n  " + "\n  ".join(result.state["log"]))


if __name__ == "__main__":
    main(sys.argv[1:] or ["Where is order A-1002?", "Please refund order A-1001"])
