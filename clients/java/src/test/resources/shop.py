"""An agent whose one tool is run by workers."""

from __future__ import annotations

from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import remote

agent = Agent(
    "shop",
    model=OfflineModel([after("charge").say("It is {result}."), otherwise.call("charge", order="A-1", amount=40)]),
    tools=[remote("charge")],
)
