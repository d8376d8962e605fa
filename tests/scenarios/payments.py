"""A payment that is made once, and a process that dies in the middle of it."""

from __future__ import annotations

from typing import Any

from clew_engine import ToolContext, tool
from tests.scenarios.scripts import Gate, ask
from tests.scenarios.sights import Turn
from tests.scenarios.world import Handle, World


class Payment:
    """A `once` tool that is held in the middle of its first call, and what it did."""

    def __init__(self, world: World, *others: Any, **settings: Any) -> None:
        self.gate = Gate()
        self.keys: list[str] = []

        @tool(once=True, timeout=settings.pop("timeout", None))
        async def pay(context: ToolContext, amount: int = 1) -> str:
            self.keys.append(context.idempotency_key)
            if len(self.keys) == 1:
                await self.gate.pass_through()
            return f"paid {amount}"

        calls = [ask("pay", amount=5), *(ask(other.__name__) for other in others)]
        self.model = world.agent(calls, "ok", tools=[pay, *others], **settings)


async def stopped(world: World, payment: Payment) -> tuple[Handle, Turn]:
    """A thread whose process died in the middle of the payment, and its retry."""
    thread = await world.thread()
    run = thread.stream()
    await payment.gate.wait()
    await world.interrupt()
    await run.gone()
    return thread, await thread.retry()
