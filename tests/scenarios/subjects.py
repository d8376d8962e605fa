"""An agent and a workflow that do alike, for what holds of both."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from clew_engine import PauseRejectedError, StateView, Workflow, append, pause
from tests.scenarios.heads import refund
from tests.scenarios.scripts import Action, Gate, ask
from tests.scenarios.world import Handle, World


class Subject:
    """An app that keeps what it is told: an agent in its transcript, a workflow in a list of its state."""

    def __init__(self, world: World, kind: str) -> None:
        self._world, self._kind = world, kind
        self.asked = 0

    async def answering(self, *actions: Action, **options: Any) -> Handle:
        """A thread whose first turn does this before it answers: waits at gates, fails, or asks for a call."""
        if self._kind == "agent":
            self._world.agent(list(actions) or "ok", "ok", tools=[refund])
        else:
            self._world.workflow(_keeping(list(actions)))
        return await self._world.thread(**options)

    async def asking(self) -> Handle:
        """A thread whose turn waits for a person, who may approve or reject."""
        if self._kind == "agent":
            self._world.agent(ask("refund", amount=7), "ok", tools=[self._refund], approve=["refund"])
        else:
            self._world.workflow(_asking(self))
        return await self._world.thread()

    def said(self, text: str) -> Any:
        """What a turn begins with."""
        return text if self._kind == "agent" else {"said": text}

    def decision(self, *, yes: bool) -> Any:
        """An answer to what waits."""
        if not yes:
            return {"reject": "no"}
        return True if self._kind == "agent" else {"value": True}

    async def answered(self, thread: Handle) -> list[str]:
        """What the thread was told and has an answer to, in its order."""
        if self._kind == "workflow":
            return list((await thread.state()).get("log", ()))
        talk = [(each["role"], each["content"]) for each in await thread.messages() if each["role"] != "tool"]
        asked = [place for place, (role, _) in enumerate(talk) if role == "user"]
        return [talk[place][1][0]["text"] for place in asked if talk[place + 1 : place + 2] and talk[place + 1][1]]

    def _refund(self, amount: int) -> str:
        self.asked += 1
        return f"refunded {amount}"

    _refund.__name__ = "refund"


def _keeping(actions: list[Action]) -> Workflow:
    flow = Workflow("app", reducers={"log": append})

    @flow.node
    async def keep(state: StateView) -> dict[str, Any]:
        while actions:
            action = actions.pop(0)
            if isinstance(action, Gate):
                await action.pass_through()
            elif isinstance(action, BaseException):
                raise action
        return {"log": [state["said"]]}

    flow.start("keep")
    return flow


def _asking(subject: Subject) -> Workflow:
    flow = Workflow("app", reducers={"log": append})

    @flow.node
    def keep(state: StateView) -> dict[str, Any]:
        with suppress(PauseRejectedError):
            subject.asked += pause("refund?")
        return {"log": [state["said"]]}

    flow.start("keep")
    return flow
