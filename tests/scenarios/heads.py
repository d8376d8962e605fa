"""Threads brought to each row of the state table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.scenarios.scripts import Gate, ask, rejected
from tests.scenarios.sights import Reader
from tests.scenarios.world import Handle, World, head_of

HEADS = ("none", "completed", "suspended", "failed", "cancelled", "running", "interrupted")


@dataclass
class Standing:
    """A thread that stands at one head, and what a command on it needs."""

    thread: Handle
    checkpoint: str = "0000000000000000.1"
    approval: str = "0000000000000000.a1.0"
    run: Reader | None = None
    gate: Gate | None = None

    async def finish(self) -> None:
        """Let what still runs come to its end."""
        if self.gate is not None:
            self.gate.open()
        if self.run is not None and not self.run.over:
            await self.run.turn()


def refund(amount: int = 1) -> str:
    """A tool that people are asked about."""
    return f"refunded {amount}"


async def standing(world: World, head: str, **options: Any) -> Standing:
    """The thread `t` at a head; a second turn, if it comes to one, is answered with `ok`."""
    if head == "none":
        world.agent("ok")
        return Standing(await world.thread(**options))
    if head == "suspended":
        world.agent(ask("refund", amount=7), "ok", tools=[refund], approve=["refund"])
        thread = await world.thread(**options)
        turn = await thread.send()
        return Standing(thread, (await head_of(thread))["id"], turn.approvals[0])
    if head in ("completed", "failed"):
        world.agent("ok" if head == "completed" else rejected(), "ok")
        thread = await world.thread(**options)
        await thread.send()
        return Standing(thread, (await head_of(thread))["id"])
    gate = Gate()
    world.agent(gate, "ok") if head == "interrupted" else world.agent([gate, "done"], "ok")
    thread = await world.thread(**options)
    run = thread.stream()
    await gate.wait()
    stands = Standing(thread, (await head_of(thread))["id"], run=run, gate=gate)
    if head == "cancelled":
        await thread.cancel()
        await run.turn()
    if head == "interrupted":
        await world.interrupt()
        await run.gone()
    return stands
