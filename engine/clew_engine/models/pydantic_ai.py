"""The adapter to every provider: pydantic-ai's direct streaming, and nothing of its agents.

Importing this module takes a second or more; only `opening` does it, and only when a model is first asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from pydantic_ai import direct
from pydantic_ai import messages as theirs
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings as TheirSettings

from clew_engine.models.conversion import from_response, to_history, to_parameters
from clew_engine.models.failures import incomplete, model_error
from clew_engine.models.port import (
    ModelError,
    ModelEvent,
    ModelRequest,
    ModelSettings,
    ReasoningChunk,
    TextChunk,
)

# These report usage from the first event on, so that usage does not show that a stream came to its end.
_EARLY_USAGE = frozenset({"anthropic", "bedrock", "google", "google-cloud"})


class PydanticAIModel:
    """A model of pydantic-ai's behind our port."""

    def __init__(
        self, model: TheirModel[Any], *, name: str | None = None, settings: ModelSettings | None = None
    ) -> None:
        self._model = model
        self._name = name or f"{model.system}:{model.model_name}"
        self._settings = settings or ModelSettings()

    @property
    def name(self) -> str:
        """What the model was opened as."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes, and then whole. Raises ModelError."""
        try:
            async with (
                direct.model_request_stream(
                    self._model,
                    to_history(request.messages, self._model.system),
                    model_settings=self._settings_for(request.settings),
                    model_request_parameters=to_parameters(request, self._enforces_schemas()),
                ) as reply,
                # Left to the garbage collector, an abandoned iterator would hold its connection until then.
                aclosing(cast("AsyncGenerator[theirs.ModelResponseStreamEvent, None]", aiter(reply))) as events,
            ):
                async for chunk in _chunks(events):
                    yield chunk
                yield from_response(_complete(reply, self._name), self._model.model_name)
        except ModelError:
            raise
        except Exception as error:
            raise model_error(error, self._name) from error

    async def aclose(self) -> None:
        """Close the connections that the model holds."""
        async with self._model:
            pass

    def _enforces_schemas(self) -> bool:
        return bool(self._model.profile.get("supports_json_schema_output", False))

    def _settings_for(self, asked: ModelSettings | None) -> TheirSettings:
        settings = merged(self._settings, asked)
        values: dict[str, Any] = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "stop_sequences": list(settings.stop_sequences) or None,
            "seed": settings.seed,
            "parallel_tool_calls": settings.parallel_tool_calls,
            "tool_choice": _tool_choice(settings.tool_choice),
            "request_timeout": settings.timeout_s,
        }
        if "max_retries" not in self._model.unsupported_settings:
            values["max_retries"] = 0  # a run retries by itself and records that it did
        given = {key: value for key, value in values.items() if value is not None}
        return cast("TheirSettings", _STATELESS.get(self._model.system, {}) | given | dict(settings.extra))


# Threads outlive what a provider stores: its reasoning travels with the thread, encrypted, instead of by reference.
_STATELESS: dict[str, dict[str, Any]] = {"openai": {"openai_store": False}}


def merged(defaults: ModelSettings, asked: ModelSettings | None) -> ModelSettings:
    """The settings of a request over those of the model."""
    if asked is None:
        return defaults
    given = {name: value for name in asked.__slots__ if (value := getattr(asked, name)) not in (None, (), {})}
    return replace(defaults, **given | {"extra": {**defaults.extra, **asked.extra}})


def _tool_choice(choice: str | None) -> str | list[str] | None:
    return choice if choice in (None, "auto", "none", "required") else [choice]


async def _chunks(events: AsyncIterator[theirs.ModelResponseStreamEvent]) -> AsyncIterator[ModelEvent]:
    async for event in events:
        match event:
            case theirs.PartStartEvent(index=index, part=theirs.TextPart(content=text)):
                chunk: ModelEvent = TextChunk(index, text)
            case theirs.PartStartEvent(index=index, part=theirs.ThinkingPart(content=text)):
                chunk = ReasoningChunk(index, text)
            case theirs.PartDeltaEvent(index=index, delta=theirs.TextPartDelta(content_delta=text)):
                chunk = TextChunk(index, text)
            case theirs.PartDeltaEvent(index=index, delta=theirs.ThinkingPartDelta(content_delta=str() as text)):
                chunk = ReasoningChunk(index, text)
            case _:
                continue
        if text:
            yield chunk


def _complete(reply: StreamedResponse, model: str) -> theirs.ModelResponse:
    """The response, if the model said that it was done: a stream that merely stops looks complete to its SDK.

    A finish reason may be made up for a stream that brought none; what the provider itself wrote is in the details.
    """
    response = reply.get()
    said_so = response.finish_reason == "content_filter" or "finish_reason" in (response.provider_details or {})
    final_usage = response.usage.output_tokens > 0 and reply.provider_name not in _EARLY_USAGE
    if response.state != "complete" or response.finish_reason == "error" or not (said_so or final_usage):
        raise incomplete(model)
    return response
