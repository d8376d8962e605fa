"""What `clew serve` says when it is up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clew_engine import Agent, App, OfflineModel, Workflow, tool
from clew_engine.models import otherwise
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
from clew_server.cli.apps import apps
from clew_server.settings import Settings
from tests.support.postgres import a_name, in_schema


@asynccontextmanager
async def started(*apps: App, storage: str = "memory://") -> AsyncIterator[Server]:
    """A server of these apps."""
    server = await Server(apps, Settings.read({"storage": storage, "port": 0})).start()
    try:
        yield server
    finally:
        await server.stop(0)


def desk(**more: Any) -> Agent:
    """An agent."""
    return Agent("desk", model=OfflineModel([otherwise.say("hello")]), **more)


async def test_the_schema_of_a_database_is_named_and_no_password_is(
    postgres_dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = a_name()
    url = in_schema(postgres_dsn.replace("://clew@", "://clew:geheim@"), schema)
    async with started(desk(), storage=url) as server:
        Announcement.of(server).say(as_json=False, workers=1)
        words = capsys.readouterr().out
        Announcement.of(server).say(as_json=True, workers=1)
        line = capsys.readouterr().out
    assert f", schema {schema}\n" in words
    assert json.loads(line)["schema"] == schema
    assert "geheim" not in words + line


async def test_an_agent_is_listed_with_its_model_and_a_workflow_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    flow = Workflow("orders")
    flow.node(lambda _: {}, name="only")
    flow.start("only")
    async with started(desk(), flow.compile()) as server:
        Announcement.of(server).say(as_json=False, workers=1)
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

    async with started(desk(tools=[look_up, pay, refund, ship], approve=["refund"])) as server:
        Announcement.of(server).say(as_json=False, workers=1)
        said = capsys.readouterr().out
        await asyncio.to_thread(apps, target=server.address)
        listed = capsys.readouterr().out
    tools = "look_up, pay!, refund?!, ship?"
    assert f"desk (offline): {tools}\n" in said
    assert tools in listed
