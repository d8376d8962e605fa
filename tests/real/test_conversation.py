"""A conversation with a real small model, streamed over gRPC, and remembered after the server was started anew."""

from __future__ import annotations

from pathlib import Path

from clew import Client, TextDelta
from clew_engine import Agent, open_model
from tests.models.real_model import ASKS, MODEL, NAME, TELLS
from tests.support.serving import serving


def agent(url: str) -> Agent:
    """An agent on the real model, made anew for each server."""
    return Agent("friend", model=open_model(MODEL, base_url=url, temperature=0, max_tokens=60, seed=1))


async def test_a_real_model_remembers_the_turn_before_the_server_was_restarted(
    real_model_url: str, tmp_path: Path
) -> None:
    database = f"sqlite://{tmp_path / 'clew.db'}"
    async with serving([agent(real_model_url)], database) as served, Client(served.target) as client:
        events = [event async for event in client.app("friend").thread("t").stream(TELLS)]
    streamed = [event.payload.text for event in events if isinstance(event.payload, TextDelta)]
    assert len(streamed) > 2
    async with serving([agent(real_model_url)], database) as served, Client(served.target) as client:
        thread = client.app("friend").thread("t")
        assert (await thread.messages())[1]["content"][0]["text"] == "".join(streamed)
        reply = await thread.send(ASKS)
    assert NAME in reply.text
    assert reply.usage.output_tokens > 2
