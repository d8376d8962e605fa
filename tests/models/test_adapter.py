"""Scripts of pydantic-ai's own FunctionModel through the adapter, and how models are opened."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel, StreamFunctionDef

from clew_engine.messages import Provider, ReasoningPart, TextPart, ToolCallPart
from clew_engine.models import (
    Model,
    ModelError,
    ModelSettings,
    OfflineModel,
    ReasoningChunk,
    TextChunk,
    open_model,
    opening,
)
from clew_engine.models.pydantic_ai import PydanticAIModel, merged
from tests.models.asking import LOOK, a_request, events_of, reply_of


def scripted(function: StreamFunctionDef) -> PydanticAIModel:
    return PydanticAIModel(FunctionModel(stream_function=function))


async def test_thoughts_text_and_calls_stream_in_their_places() -> None:
    async def script(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        yield {0: DeltaThinkingPart(content="Hm")}
        yield {0: DeltaThinkingPart(content="m.", signature="signed")}
        yield "Hel"
        yield "lo"
        yield {2: DeltaToolCall("look", '{"q":', tool_call_id="same")}
        yield {2: DeltaToolCall(json_args='"a"}')}
        yield {3: DeltaToolCall("look", "{}", tool_call_id="same")}

    request = a_request(tools=(LOOK,))
    events = await events_of(scripted(script), request)
    assert events[:4] == [ReasoningChunk(0, "Hm"), ReasoningChunk(0, "m."), TextChunk(1, "Hel"), TextChunk(1, "lo")]
    reply = await reply_of(scripted(script), request)
    assert reply.content == (
        ReasoningPart("Hmm.", provider=Provider("function", signature="signed")),
        TextPart("Hello"),
        ToolCallPart("same", "look", '{"q":"a"}'),
        ToolCallPart("same", "look", "{}"),
    )
    assert reply.finish_reason == "tool_call"


async def test_the_model_is_told_instructions_tools_and_settings() -> None:
    seen: list[AgentInfo] = []

    async def script(_messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        seen.append(info)
        yield "ok"

    await reply_of(scripted(script), replace(a_request(tools=(LOOK,)), settings=ModelSettings(temperature=0)))
    assert seen[0].instructions == "Be kind."
    assert [tool.name for tool in seen[0].function_tools] == ["look"]
    assert seen[0].model_settings == {"temperature": 0, "max_retries": 0}


async def test_whatever_a_model_raises_is_a_model_error() -> None:
    async def script(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        yield "Hel"
        raise KeyError("inner secret")

    with pytest.raises(ModelError) as caught:
        await reply_of(scripted(script), "Hi")
    assert caught.value.retryable
    assert "secret" not in caught.value.message
    assert isinstance(caught.value.__cause__, KeyError)


async def test_closing_the_stream_ends_the_model() -> None:
    ended = asyncio.Event()

    async def script(_messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
        try:
            yield "Hel"
            await asyncio.Event().wait()
        finally:
            ended.set()

    stream = scripted(script).stream(a_request())
    await anext(stream)
    await stream.aclose()
    assert ended.is_set()


def test_settings_of_a_request_win() -> None:
    defaults = ModelSettings(temperature=1, max_tokens=5, extra={"thinking": "low", "top_k": 1})
    asked = ModelSettings(temperature=0, extra={"top_k": 2})
    assert merged(defaults, asked) == ModelSettings(temperature=0, max_tokens=5, extra={"thinking": "low", "top_k": 2})


def test_offline_is_a_model_by_name() -> None:
    assert isinstance(open_model("offline"), OfflineModel)


@pytest.mark.parametrize("spec", ["openai:gpt-5", "openai-chat:small", "anthropic:fine"])
def test_a_provider_is_a_model_by_name(spec: str) -> None:
    model = open_model(spec, temperature=0, max_tokens=10)
    assert isinstance(model, Model)
    assert model.name == spec


@pytest.mark.parametrize("spec", ["", "openai", "openai:", "gpt-5", "nobody:x"])
def test_a_spec_that_names_no_model_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="model must be offline or one of openai:NAME"):
        open_model(spec)


def test_a_misspelt_setting_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown settings of a model: temprature"):
        open_model("openai:gpt-5", temprature=0)


def test_a_setting_of_the_provider_is_let_through() -> None:
    open_model("openai:gpt-5", openai_reasoning_effort="low", top_k=4)


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _name: None)
    with pytest.raises(ImportError, match=r'pip install "clew-server\[anthropic\]"'):
        open_model("anthropic:fine")


@pytest.mark.parametrize(
    ("spec", "variable"), [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:x", "ANTHROPIC_API_KEY")]
)
async def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch, spec: str, variable: str) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ModelError, match=f"set {variable}") as caught:
        await reply_of(open_model(spec), "Hi")
    assert (caught.value.code, caught.value.retryable) == ("model_rejected", False)


def test_nothing_of_a_provider_is_imported_before_it_is_asked() -> None:
    program = """
import sys
from clew_engine.models import open_model
models = [open_model("openai:gpt-5"), open_model("anthropic:fine"), open_model("offline")]
heavy = {"pydantic_ai", "openai", "anthropic", "httpx", "httpx2"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
