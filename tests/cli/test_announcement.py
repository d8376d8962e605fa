"""What `clew serve` says when it is up."""

from __future__ import annotations

import json

import pytest

from clew_engine import Agent, OfflineModel, Workflow
from clew_engine.models import otherwise
from clew_server.app import Server
from clew_server.cli.announcement import Announcement
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
