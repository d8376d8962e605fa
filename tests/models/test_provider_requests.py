"""What goes out to a provider beside the text: its own signatures, schemas, settings."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clew_engine.messages import Provider, ReasoningPart, TextPart, Usage
from clew_engine.models import ModelSettings
from tests.models.asking import LOOK, a_request, assistant, reply_of
from tests.models.provider_server import ProviderServer, Served
from tests.models.wire import ANTHROPIC, CHAT, RESPONSES, Dialect, anthropic_thinking, opened, responses_reasoning


async def test_openai_reasoning_is_kept_with_the_thread_and_not_at_openai(server: ProviderServer) -> None:
    reply = [*RESPONSES.start(), *responses_reasoning("Hm.", "ENCRYPTED"), *RESPONSES.finish("stop")]
    server.will(Served(reply), Served(RESPONSES.says("Yes")))
    async with opened(RESPONSES, server) as model:
        thought = await reply_of(model, "Hi")
        await reply_of(model, a_request("Hi", assistant(*thought.content), "Sure?"))
    assert thought.content == (ReasoningPart("Hm.", provider=Provider("openai", "rs_1", "ENCRYPTED")),)
    assert thought.usage == Usage(11, 7, cached_input_tokens=4, reasoning_tokens=2)
    body = server.received[1].body
    assert body["store"] is False
    reasoning = [item for item in body["input"] if item.get("type") == "reasoning"]
    assert [item["encrypted_content"] for item in reasoning] == ["ENCRYPTED"]
    assert "msg_1" not in str(body)


async def test_a_signature_goes_back_to_the_provider_that_made_it_and_to_no_other(server: ProviderServer) -> None:
    reply = [*ANTHROPIC.start(), *anthropic_thinking("Hm.", "SIGNED"), *ANTHROPIC.finish("stop")]
    server.will(Served(reply), Served(ANTHROPIC.says("Yes")), Served(CHAT.says("Yes")))
    async with opened(ANTHROPIC, server) as maker, opened(CHAT, server) as other:
        thought = await reply_of(maker, "Hi")
        asked = a_request("Hi", assistant(*thought.content, TextPart("Hello")), "Sure?")
        await reply_of(maker, asked)
        await reply_of(other, asked)
    assert thought.content == (ReasoningPart("Hm.", provider=Provider("anthropic", None, "SIGNED")),)
    assert "SIGNED" in str(server.received[1].body)
    assert "SIGNED" not in str(server.received[2].body)
    assert "Hm." not in str(server.received[2].body)


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES], ids=["openai-chat", "openai"])
async def test_a_schema_is_the_providers_to_enforce_where_it_can(server: ProviderServer, dialect: Dialect) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    server.will(Served(dialect.says('{"n":1}')))
    async with opened(dialect, server) as model:
        response = await reply_of(model, replace(a_request(), output_schema=schema))
    assert response.text == '{"n":1}'
    assert "json_schema" in str(server.received[0].body)


async def test_settings_of_the_request_win_over_those_of_the_model(server: ProviderServer) -> None:
    server.will(Served(CHAT.says("Hello")))
    async with opened(CHAT, server) as model:
        request = replace(a_request(tools=(LOOK,)), settings=ModelSettings(temperature=0.5, tool_choice="none", seed=3))
        await reply_of(model, request)
    body = server.received[0].body
    assert (body["temperature"], body["seed"], body["tool_choice"]) == (0.5, 3, "none")
