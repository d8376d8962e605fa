"""What `clew serve` says when it is up."""

from __future__ import annotations

import asyncio
import json

import pytest

from clew_engine import Agent, OfflineModel, Workflow, tool
from clew_engine.models import otherwise
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
from clew_server.cli.apps import apps
from clew_server.settings import Settings
from tests.support.postgres import a_name, in_schema


async def said(settings: Settings, capsys: pytest.CaptureFixture[str], *, as_json: bool) -> str:
    agent = Agent("desk", model=OfflineModel([otherwise.say("hello")]))
    server = await Server([agent], settings).start()
    try:
        Announcement.of(server).say(as_json=as_json, workers=1)
    finally:
        await server.stop(0)
    return capsys.readouterr().out


async def test_the_schema_of_a_database_is_named_and_no_password_is(
    postgres_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = a_name()
    url = in_schema(postgres_dsn.replace("://clew@", "://clew:geheim@"), schema)
    settings = Settings.read({"storage": url, "port": 0})
    words = await said(settings, capsys, as_json=False)
    assert f", schema {schema}\n" in words
    program = await said(settings, capsys, as_json=True)
    assert json.loads(program)["schema"] == schema
    assert "geheim" not in words + program


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


async def test_tools_have_the_marks_that_the_list_of_apps_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    @tool
    def look_up(order: str) -> str:
        """Find an order."""
        return order

    @tool(once=True)
    def pay(order: str) -> str:
        """Pay for it."""
        return order

    @tool(once=True)
    def refund(order: str) -> str:
        """Pay it back."""
        return order

    @tool(approve=True)
    def ship(order: str) -> str:
        """Send it."""
        return order

    model = OfflineModel([otherwise.say("hello")])
    agent = Agent("desk", model=model, tools=[look_up, pay, refund, ship], approve=["refund"])
    server = await Server([agent], Settings.read({"storage": "memory://", "port": 0})).start()
    try:
        Announcement.of(server).say(as_json=False, workers=1)
        said = capsys.readouterr().out
        await asyncio.to_thread(apps, target=server.address)
        listed = capsys.readouterr().out
    finally:
        await server.stop(0)
    tools = "look_up, pay!, refund?!, ship?"
    assert f"desk (offline): {tools}\n" in said
    assert tools in listed
