"""The adapter to every provider: pydantic-ai's direct streaming, and nothing of its agents.

Importing this module takes a second or more; only `opening` does it, and only when a model is first asked.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, cast

from msgspec.structs import asdict, replace
from pydantic_ai import direct
from pydantic_ai import messages as theirs
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings as TheirSettings

from clew_engine.models.conversion import from_response, mended, to_history, to_parameters
from clew_engine.models.failures import incomplete, model_error
from clew_engine.models.left_open import close_all, noting_responses
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
        self,
        model: TheirModel[Any],
        *,
        name: str | None = None,
        settings: ModelSettings | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._model = model
        self._on_close = on_close
        self._name = name or f"{model.system}:{model.model_name}"
        self._settings = settings or ModelSettings()

    @property
    def name(self) -> str:
        """What the model was opened as."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it comes, and then whole. Raises ModelError."""
        history, parameters = self._converted(request)
        try:
            async with AsyncExitStack() as stack:
                reply = await self._opened(stack, history, parameters, request.settings)
                # Left to the garbage collector, an abandoned iterator would hold its connection until then.
                events = cast("AsyncGenerator[theirs.ModelResponseStreamEvent, None]", aiter(reply))
                stack.push_async_callback(events.aclose)
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
        if self._on_close is not None:
            await self._on_close()

    async def _opened(
        self,
        stack: AsyncExitStack,
        history: list[theirs.ModelMessage],
        parameters: ModelRequestParameters,
        settings: ModelSettings | None,
    ) -> StreamedResponse:
        with noting_responses() as responses:
            stack.push_async_callback(close_all, responses)
            return await stack.enter_async_context(
                direct.model_request_stream(
                    self._model,
                    history,
                    model_settings=self._settings_for(settings),
                    model_request_parameters=parameters,
                )
            )

    def _converted(self, request: ModelRequest) -> tuple[list[theirs.ModelMessage], ModelRequestParameters]:
        enforces_schemas = bool(self._model.profile.get("supports_json_schema_output", False))
        try:
            return to_history(request.messages, self._model.system), to_parameters(request, enforces_schemas)
        except ValueError as error:
            message = f"The conversation holds what cannot be sent to the model {self._name}."
            raise ModelError("model_rejected", message, retryable=False) from error

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
    given = {name: value for name, value in asdict(asked).items() if value not in (None, (), {})}
    return replace(defaults, **given | {"extra": {**defaults.extra, **asked.extra}})


def _tool_choice(choice: str | None) -> str | list[str] | None:
    return choice if choice in (None, "auto", "none", "required") else [choice]


async def _chunks(events: AsyncIterator[theirs.ModelResponseStreamEvent]) -> AsyncIterator[ModelEvent]:
    halves: dict[int, str] = {}  # a character may be cut in two, each half escaped in JSON of its own
    async for event in events:
        if (found := _delta(event)) is None:
            continue
        kind, index, text = found
        text = halves.pop(index, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, halves[index] = text[:-1], text[-1]
        if text:
            yield kind(index, mended(text))


def _delta(event: theirs.ModelResponseStreamEvent) -> tuple[type[TextChunk | ReasoningChunk], int, str] | None:
    match event:
        case theirs.PartStartEvent(index=index, part=theirs.TextPart(content=text)):
            return TextChunk, index, text
        case theirs.PartStartEvent(index=index, part=theirs.ThinkingPart(content=text)):
            return ReasoningChunk, index, text
        case theirs.PartDeltaEvent(index=index, delta=theirs.TextPartDelta(content_delta=text)):
            return TextChunk, index, text
        case theirs.PartDeltaEvent(index=index, delta=theirs.ThinkingPartDelta(content_delta=str() as text)):
            return ReasoningChunk, index, text
        case _:
            return None


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
