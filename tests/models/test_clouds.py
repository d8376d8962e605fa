"""Google's and Amazon's own SDKs against a server on this machine."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator
from typing import Any
from zlib import crc32

import pytest

from clew_engine.messages import Message, Provider, TextPart, ToolCallPart, ToolResultPart
from clew_engine.models import Model, ModelError, ModelResponse, TextChunk, open_model
from clew_engine.models.opening import ProviderModel
from tests.models.asking import LOOK, a_request, assistant, events_of, reply_of
from tests.models.provider_server import ProviderServer, Served, refusal
from tests.models.wire import data


def gemini(*parts: dict[str, Any], finish: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
    return data({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gem-1", "responseId": "r1"})


def amazon(kind: str, value: dict[str, Any]) -> bytes:
    """A frame of Amazon's event stream: lengths and their checksum, headers, JSON, and the checksum of it all."""
    named = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(word)) + word.encode()
        for name, word in named.items()
    )
    payload = json.dumps(value).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    frame = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return frame + struct.pack(">I", crc32(frame))


def nova(*chunks: str) -> list[bytes]:
    return [
        amazon("messageStart", {"role": "assistant"}),
        *(amazon("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": chunk}}) for chunk in chunks),
        amazon("contentBlockStop", {"contentBlockIndex": 0}),
    ]


NOVA_ENDS = [
    amazon("messageStop", {"stopReason": "end_turn"}),
    amazon(
        "metadata", {"usage": {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}, "metrics": {"latencyMs": 1}}
    ),
]
AMAZONS = "application/vnd.amazon.eventstream"


@pytest.fixture
async def google(server: ProviderServer) -> AsyncIterator[Model]:
    model = open_model("google:gem", base_url=server.url, api_key="key")
    assert isinstance(model, ProviderModel)
    yield model
    await model.aclose()


@pytest.fixture
def bedrock(server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")  # an API key would not go out without TLS
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return open_model("bedrock:nova", base_url=server.url, region="us-east-1")


async def test_google_streams_text(google: Model, server: ProviderServer) -> None:
    server.will(Served([gemini({"text": "Hel"}), gemini({"text": "lo"}, finish="STOP")]))
    events = await events_of(google, a_request())
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["Hel", "lo"]


async def test_google_gets_its_signature_back_with_the_call(google: Model, server: ProviderServer) -> None:
    call = {"functionCall": {"name": "look", "args": {"q": "a"}}, "thoughtSignature": "U0lHTg=="}
    server.will(Served([gemini(call, finish="STOP")]), Served([gemini({"text": "Done"}, finish="STOP")]))
    asked = await reply_of(google, a_request("Look", tools=(LOOK,)))
    (made,) = asked.tool_calls
    ours = ToolCallPart("call_2_0", made.name, made.args, provider=made.provider)
    found = Message("t", "tool", (ToolResultPart("call_2_0", "look", (TextPart("x"),)),), 0)
    await reply_of(google, a_request("Look", assistant(ours), found, tools=(LOOK,)))
    assert asked.finish_reason == "tool_call"
    assert made.args == '{"q":"a"}'
    assert isinstance(made.provider, Provider)
    assert "U0lHTg" in str(server.received[1].body)


async def test_google_without_a_finish_is_incomplete(google: Model, server: ProviderServer) -> None:
    server.will(Served([gemini({"text": "Hel"})]))
    with pytest.raises(ModelError) as caught:
        await events_of(google, a_request())
    assert (caught.value.code, caught.value.retryable) == ("model_incomplete", True)


async def test_google_refuses_once(google: Model, server: ProviderServer) -> None:
    server.will(refusal(503, {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}))
    with pytest.raises(ModelError) as caught:
        await events_of(google, a_request())
    assert (caught.value.code, caught.value.retryable) == ("model_unavailable", True)
    assert len(server.received) == 1


async def test_leaving_google_closes_the_connection(google: Model, server: ProviderServer) -> None:
    server.will(Served([gemini({"text": "Hel"})], then="hang"))
    stream = google.stream(a_request())
    assert isinstance(await anext(stream), TextChunk)
    await stream.aclose()
    await server.client_left.wait()


async def test_amazon_streams_text(bedrock: Model, server: ProviderServer) -> None:
    server.will(Served([*nova("Hel", "lo"), *NOVA_ENDS], content_type=AMAZONS))
    events = await events_of(bedrock, a_request())
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["Hel", "lo"]
    response = events[-1]
    assert isinstance(response, ModelResponse)
    assert (response.finish_reason, response.usage.output_tokens) == ("stop", 7)


async def test_amazon_without_a_finish_is_incomplete(bedrock: Model, server: ProviderServer) -> None:
    server.will(Served(nova("Hel"), content_type=AMAZONS))
    with pytest.raises(ModelError) as caught:
        await events_of(bedrock, a_request())
    assert (caught.value.code, caught.value.retryable) == ("model_incomplete", True)


async def test_leaving_amazon_closes_the_connection(bedrock: Model, server: ProviderServer) -> None:
    server.will(Served(nova("Hel", "lo"), content_type=AMAZONS, then="hang"))
    stream = bedrock.stream(a_request())
    assert isinstance(await anext(stream), TextChunk)
    await stream.aclose()
    await server.client_left.wait()


@pytest.mark.parametrize(
    ("status", "kind", "code", "retryable"),
    [
        (429, "ThrottlingException", "model_rate_limited", True),
        (503, "ServiceUnavailableException", "model_unavailable", True),
        (400, "ValidationException", "model_rejected", False),
        (403, "AccessDeniedException", "model_rejected", False),
    ],
)
async def test_amazon_refuses_once(
    bedrock: Model, server: ProviderServer, status: int, kind: str, code: str, retryable: bool
) -> None:
    server.will(*(refusal(status, {"message": "no"}, x_amzn_ErrorType=kind) for _ in range(2)))
    with pytest.raises(ModelError) as caught:
        await events_of(bedrock, a_request())
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert len(server.received) == 1
