"""What the workers of these tests serve."""

from __future__ import annotations

import os
import signal

from clew_engine import Agent, OfflineModel, tool
from clew_engine.models import after, otherwise
from tests.faults import plans
from tests.workflows.sealed_apps import adding

agent = plans.make_agent()
flow = adding()


@tool
def pid() -> int:
    """Which process runs this."""
    return os.getpid()


@tool
def die() -> None:
    """The end of the process that runs this."""
    os.kill(os.getpid(), signal.SIGKILL)


who = Agent("who", model=OfflineModel([after("pid").say("{result}"), otherwise.call("pid")]), tools=[pid])
deadly = Agent("deadly", model=OfflineModel([otherwise.call("die")]), tools=[die])
