"""A worker: the tool `charge` runs in this process, for an agent that any server serves with `tools=[remote("charge", once=True)]`."""

from __future__ import annotations

import clew

worker = clew.Client().worker()


@worker.tool(once=True, timeout=30)
async def charge(order: str, amount: int) -> str:
    """Charge the card of an order."""
    call = clew.current_call()
    await call.report({"asked": "the bank"})
    # Whatever has the effect gets the key, which is the same for every try of this call.
    return f"charged {amount} EUR for {order} under {call.idempotency_key}"


if __name__ == "__main__":
    worker.main()
