"""What `clew serve` serves where workers run the tools: the plans, with whatever missing guard the environment names."""

from __future__ import annotations

from clew_engine import Agent
from clew_engine.remote_tools import remote
from tests.faults import broken, plans

broken.install()
agent = Agent(plans.APP, model=plans.PlanModel(), tools=[remote("fetch"), remote("charge", once=True)])
