"""The agents of the tests of workers: all they do is charge a card, and say what came of it."""

from clew_engine import Agent, OfflineModel
from clew_engine.models import after, otherwise
from clew_engine.remote_tools import remote


def _charges(name: str, **settings: bool) -> Agent:
    model = OfflineModel([after("charge").say("It is {result}."), otherwise.call("charge", order="A-1", amount=40)])
    return Agent(name, model=model, tools=[remote("charge", **settings)])


shop = _charges("shop")
careful = _charges("careful", once=True)
