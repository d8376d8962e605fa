"""The providers' own SDKs against a server on this machine that speaks their APIs, well and badly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from msgspec import structs

from clew_engine.messages import Message, Provider, TextPart, ToolCallPart, ToolResultPart
from clew_engine.models import Model, ModelError, ModelRequest, ModelSettings, TextChunk
from tests.models.asking import LOOK, a_request, assistant, events_of, reply_of
from tests.models.provider_server import ProviderServer, Served
from tests.models.wire import ANTHROPIC, CHAT, DIALECTS, RESPONSES, Call, Dialect, opened


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture
async def model(dialect: Dialect, server: ProviderServer) -> AsyncIterator[Model]:
    async with opened(dialect, server) as found:
        yield found


async def failure_of(model: Model, request: ModelRequest | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model, request or a_request())
    return caught.value


async def test_text_streams_as_it_comes(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served(dialect.says("Hel", "lo ", "wörld")))
    events = await events_of(model, a_request())
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["Hel", "lo ", "wörld"]


async def test_the_whole_response_comes_last(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served(dialect.says("Hel", "lo")))
    response = await reply_of(model, "Hi")
    assert response.text == "Hello"
    assert response.finish_reason == "stop"
    assert (response.usage.input_tokens, response.usage.output_tokens) == (11, 7)
    assert response.model.endswith("-1")
    assert response.provider is not None
    assert response.provider.id in {"chatcmpl-1", "resp_1", "msg_1"}
    assert server.received[0].path == dialect.path


async def test_parallel_tool_calls_keep_what_the_model_wrote(
    dialect: Dialect, model: Model, server: ProviderServer
) -> None:
    server.will(Served(dialect.asks(Call("one", "look", '{"q": "a"}'), Call("two", "look", '{"q": "broken'))))
    response = await reply_of(model, a_request(tools=(LOOK,)))
    assert [(call.id, call.name, call.args) for call in response.tool_calls] == [
        ("one", "look", '{"q": "a"}'),
        ("two", "look", '{"q": "broken'),
    ]
    assert [call.provider and call.provider.id for call in response.tool_calls] == ["one", "two"]
    assert response.finish_reason == "tool_call"


async def test_a_call_and_its_result_go_out_under_our_id(
    dialect: Dialect, model: Model, server: ProviderServer
) -> None:
    theirs = Provider(dialect.name, id="theirs")
    server.will(Served(dialect.says("Done")))
    await reply_of(
        model,
        a_request(
            "Look",
            assistant(ToolCallPart("call_3_1", "look", "{}", provider=theirs)),
            Message("t", "tool", (ToolResultPart("call_3_1", "look", (TextPart("found\0it"),)),), 0),
            tools=(LOOK,),
        ),
    )
    sent = str(server.received[0].body)
    assert sent.count("call_3_1") == 2
    assert "theirs" not in sent
    assert "found\\\\u0000it" in sent


async def test_a_rate_limit_says_how_long_to_wait(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    refused = dialect.refuse(429, "rate_limit_error", "slow down")
    server.will(replace(refused, headers={"retry-after": "7"}))
    failure = await failure_of(model)
    assert (failure.code, failure.retryable, failure.retry_after_s) == ("model_rate_limited", True, 7)
    assert "slow down" in failure.message


@pytest.mark.parametrize(
    ("status", "code", "expected", "retryable"),
    [
        (500, "api_error", "model_unavailable", True),
        (503, "overloaded_error", "model_unavailable", True),
        (529, "overloaded_error", "model_unavailable", True),
        (400, "invalid_request_error", "model_rejected", False),
        (401, "authentication_error", "model_rejected", False),
        (404, "not_found_error", "model_rejected", False),
    ],
)
async def test_a_refusal_is_typed_and_asked_once(
    dialect: Dialect, model: Model, server: ProviderServer, status: int, code: str, expected: str, retryable: bool
) -> None:
    server.will(dialect.refuse(status, code, "it said no"))
    failure = await failure_of(model)
    assert (failure.code, failure.retryable) == (expected, retryable)
    assert len(server.received) == 1


async def test_a_key_in_a_refusal_is_not_shown(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(dialect.refuse(400, "invalid_request_error", "not with sk-abcdef123456 at https://inner.example/x"))
    failure = await failure_of(model)
    assert "sk-abc" not in failure.message
    assert "inner.example" not in failure.message


@pytest.mark.parametrize(
    ("dialect", "code", "message"),
    [
        (CHAT, "context_length_exceeded", "maximum context length is 10 tokens"),
        (RESPONSES, "context_length_exceeded", "maximum context length is 10 tokens"),
        (ANTHROPIC, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
    ],
    ids=["openai-chat", "openai", "anthropic"],
)
async def test_a_conversation_that_is_too_long_is_not_tried_again(
    server: ProviderServer, dialect: Dialect, code: str, message: str
) -> None:
    server.will(dialect.refuse(400, code, message))
    async with opened(dialect, server) as model:
        failure = await failure_of(model)
    assert (failure.code, failure.retryable) == ("model_rejected", False)
    assert "length" in failure.message


async def test_an_error_in_mid_stream_is_the_providers(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([*dialect.start(), *dialect.text(["Hel"])[:3], *dialect.failure()]))
    failure = await failure_of(model)
    assert (failure.code, failure.retryable) == ("model_unavailable", True)


async def test_a_cut_connection_is_retryable(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([*dialect.start(), *dialect.text(["Hel"])[:3]], then="cut"))
    failure = await failure_of(model)
    assert failure.code in {"model_unavailable", "model_incomplete"}
    assert failure.retryable


async def test_a_stream_without_a_finish_is_incomplete(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([*dialect.start(), *dialect.text(["Hel", "lo"])]))
    failure = await failure_of(model)
    assert (failure.code, failure.retryable) == ("model_incomplete", True)


async def test_a_stream_of_nothing_is_incomplete(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([]))
    assert (await failure_of(model)).retryable


async def test_garbage_in_the_stream_is_retryable(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([*dialect.start(), b'event: content_block_delta\ndata: {"cho\n\n', *dialect.finish("stop")]))
    assert (await failure_of(model)).retryable


async def test_garbage_instead_of_a_stream_is_retryable(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([b"<html>"], content_type="text/html"))
    assert (await failure_of(model)).retryable


async def test_a_first_byte_that_does_not_come_in_time_is_retryable(
    dialect: Dialect, model: Model, server: ProviderServer
) -> None:
    server.will(Served(then="hang"))
    failure = await failure_of(model, structs.replace(a_request(), settings=ModelSettings(timeout_s=0.3)))
    assert (failure.code, failure.retryable) == ("model_unavailable", True)
    await server.client_left.wait()


async def test_a_server_that_is_not_there_is_unavailable(dialect: Dialect) -> None:
    model = dialect.opened("http://127.0.0.1:1")
    failure = await failure_of(model)
    assert (failure.code, failure.retryable) == ("model_unavailable", True)


async def test_closing_the_stream_closes_the_connection(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served([*dialect.start(), *dialect.text(["Hel", "lo"])[:4]], then="hang"))
    stream = model.stream(a_request())
    assert isinstance(await anext(stream), TextChunk)
    await stream.aclose()
    await server.client_left.wait()


async def test_cancelling_the_reader_closes_the_connection(
    dialect: Dialect, model: Model, server: ProviderServer
) -> None:
    server.will(Served([*dialect.start(), *dialect.text(["Hel", "lo"])[:4]], then="hang"))
    reader = asyncio.create_task(events_of(model, a_request()))
    await server.sent_all.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    await server.client_left.wait()


async def test_cancelling_before_the_first_byte_closes_the_connection(
    dialect: Dialect, model: Model, server: ProviderServer
) -> None:
    server.will(Served(then="hang"))
    reader = asyncio.create_task(events_of(model, a_request()))
    await server.sent_all.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    await server.client_left.wait()


async def test_a_model_serves_several_requests_at_once(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(*(Served(dialect.says("Hello")) for _ in range(5)))
    replies = await asyncio.gather(*(reply_of(model, "Hi") for _ in range(5)))
    assert [reply.text for reply in replies] == ["Hello"] * 5


async def test_a_character_that_is_cut_in_two_is_joined(dialect: Dialect, model: Model, server: ProviderServer) -> None:
    server.will(Served(dialect.says("a\ud83d", "\ude00b")))
    events = await events_of(model, a_request())
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["a", "😀b"]
