"""What `clew serve` says when it is up."""

from __future__ import annotations

import pytest

from clew_engine import Agent, OfflineModel, Workflow
from clew_engine.models import otherwise
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
from clew_server.settings import Settings


async def test_an_agent_is_listed_with_its_model_and_a_workflow_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    flow = Workflow("orders")
    flow.node(lambda _: {}, name="only")
    flow.start("only")
    agent = Agent("desk", model=OfflineModel([otherwise.say("hello")]))
    settings = Settings.read({"storage": "memory://", "port": 0})
    server = await Server([agent, flow.compile()], settings).start()
    try:
        Announcement.of(server).say(as_json=False, workers=1)
    finally:
        await server.stop(0)
    said = capsys.readouterr().out
    assert "desk (offline)" in said
    assert "orders (workflow)" in said
    assert "()" not in said
