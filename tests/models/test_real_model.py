"""A real small model through the adapter: slow and simple-minded, and nobody's script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from clew_engine.models import Model, ModelSettings, TextChunk, open_model
from clew_engine.models.opening import ProviderModel
from tests.models.asking import a_request, assistant, events_of, reply_of
from tests.models.real_model import ASKS, MODEL, NAME, TELLS


@pytest.fixture
async def model(real_model_url: str) -> AsyncIterator[Model]:
    opened = open_model(MODEL, base_url=real_model_url, temperature=0, max_tokens=60, seed=1)
    assert isinstance(opened, ProviderModel)
    yield opened
    await opened.aclose()


async def test_a_real_reply_streams_and_is_counted(model: Model) -> None:
    events = await events_of(model, a_request("Say hello to me in one short sentence."))
    assert sum(isinstance(event, TextChunk) for event in events) > 2
    reply = await reply_of(model, "Say hello to me in one short sentence.")
    assert "hello" in reply.text.lower()
    assert reply.finish_reason in {"stop", "length"}
    assert reply.usage.input_tokens > 10
    assert reply.usage.output_tokens > 2


async def test_a_real_model_knows_what_the_conversation_told_it_and_nothing_else(model: Model) -> None:
    greeting = await reply_of(model, TELLS)
    assert NAME in (await reply_of(model, a_request(TELLS, assistant(*greeting.content), ASKS))).text
    assert NAME not in (await reply_of(model, ASKS)).text


async def test_a_real_model_is_held_to_a_schema(model: Model) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    reply = await reply_of(model, replace(a_request("Which city is the capital of France?"), output_schema=schema))
    assert set(json.loads(reply.text)) == {"city"}


async def test_a_real_reply_that_is_cut_short_says_so(model: Model) -> None:
    request = replace(a_request("Tell me a long story."), settings=ModelSettings(max_tokens=5))
    reply = await reply_of(model, request)
    assert (reply.finish_reason, reply.usage.output_tokens) == ("length", 5)


async def test_leaving_a_real_reply_frees_the_model(model: Model) -> None:
    endless = replace(a_request("Tell me a long story."), settings=ModelSettings(max_tokens=1800))
    stream = model.stream(endless)
    assert isinstance(await anext(stream), TextChunk)
    await stream.aclose()
    # It works on one request at a time, so this would otherwise wait for half a minute.
    request = replace(a_request(), settings=ModelSettings(max_tokens=5, timeout_s=10))
    assert (await reply_of(model, request)).content
