"""What the tests of workers are served: agents that charge by a tool of a worker's, and one of those that must run at most once."""

from __future__ import annotations

from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import remote

RULES = [after("charge").say("It is {result}."), otherwise.call("charge", order="A-1", amount=40)]

shop = Agent("shop", model=OfflineModel(RULES), tools=[remote("charge")])
careful = Agent("careful", model=OfflineModel(RULES), tools=[remote("charge", once=True)])
