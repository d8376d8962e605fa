"""An invoice that a person approves days later: the run waits on disk, and another process goes on with it.

    python examples/approval_over_days.py submit INV-7 1200      # → waits, and the process ends
    python examples/approval_over_days.py approve INV-7          # days later: pays, once

Threads are kept in invoices.db (CLEW_STORAGE names another database). `clew serve examples/approval_over_days.py` serves the same workflow.
"""

from __future__ import annotations

import argparse
import os
from typing import Annotated, TypedDict

from clew_engine import END, ClewError, PauseRejectedError, StateView, Storage, Workflow, append, pause, step_sync

SMALL = 100


class Invoice(TypedDict, total=False):
    """The state of a run; one thread an invoice."""

    number: str
    amount: float
    approved_by: str
    receipt: str
    log: Annotated[list[str], append]


flow = Workflow("invoices", state=Invoice, version=1, description="Pays invoices; large ones when a person approves.")


@flow.node
def check(state: StateView) -> Invoice:
    """What needs no person."""
    if state["amount"] <= 0:
        raise ValueError("an invoice is of more than 0")
    return {"log": [f"{state['number']} is of {state['amount']:.2f}"]}


@flow.node
def ask(state: StateView) -> Invoice:
    """Waits for a person, as long as it takes. The function ends here, and is entered again with the answer."""
    try:
        by = pause(
            {"pay": state["number"], "amount": state["amount"]},
            {"type": "object", "properties": {"by": {"type": "string"}}, "required": ["by"]},
        )["by"]
    except PauseRejectedError as reason:
        return {"log": [f"not paid: {reason}"]}
    return {"approved_by": by, "log": [f"approved by {by}"]}


@flow.node
def pay(state: StateView) -> Invoice:
    """Pays. The step is recorded before it begins and is never started twice by itself."""
    receipt = step_sync("transfer", transfer, state["number"], state["amount"], once=True)
    return {"receipt": receipt, "log": ["paid"]}


def transfer(number: str, amount: float) -> str:
    """Where money would move."""
    return f"receipt of {number}: {amount:.2f}"


flow.start("check")
flow.branch("check", lambda state: "pay" if state["amount"] <= SMALL else "ask", ["pay", "ask"])
flow.branch("ask", lambda state: "pay" if "approved_by" in state else END, ["pay"])

app = flow.compile(Storage(os.environ.get("CLEW_STORAGE", "sqlite://invoices.db")))


def main() -> None:
    """The command line above."""
    parser = argparse.ArgumentParser(description="Invoices that wait for a person.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    submit = verbs.add_parser("submit")
    submit.add_argument("number")
    submit.add_argument("amount", type=float)
    for verb in ("approve", "reject", "retry"):
        verbs.add_parser(verb).add_argument("number")
    given = parser.parse_args()
    try:
        play(given)
    except ClewError as error:
        raise SystemExit(f"{given.number}: {error.message}") from None


def play(given: argparse.Namespace) -> None:
    """One of the verbs."""
    thread = app.thread(given.number)
    if given.verb == "submit":
        result = thread.run_sync({"number": given.number, "amount": given.amount})
    elif given.verb == "approve":
        result = thread.resume_sync({"by": os.environ.get("USER", "somebody")})
    elif given.verb == "reject":
        result = thread.reject_sync("not ours")
    else:
        result = thread.retry_sync()
    for line in result.state["log"]:
        print(line)
    for approval in result.approvals:
        print(f"waits: {approval.prompt}")


if __name__ == "__main__":
    main()
