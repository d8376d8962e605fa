"""What a model is to the engine: a request in, deltas out, and the whole response last."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct, field

from clew_engine.messages import Message, Part, Provider, TextPart, ToolCallPart, Usage

ModelErrorCode = Literal["model_unavailable", "model_rate_limited", "model_rejected", "model_incomplete"]


class ToolSpec(Struct, frozen=True):
    """A tool as a model is told of it; `parameters` is the JSON schema of its arguments object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ModelSettings(Struct, frozen=True):
    """What may be set the same way everywhere. `extra` goes to the provider's adapter as it is."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop_sequences: tuple[str, ...] = ()
    seed: int | None = None
    parallel_tool_calls: bool | None = None
    tool_choice: str | None = None
    timeout_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class ModelRequest(Struct, frozen=True):
    """One step's question. `output_schema` asks for a reply that is JSON of that schema."""

    instructions: str | None
    messages: Sequence[Message]
    tools: tuple[ToolSpec, ...] = ()
    settings: ModelSettings | None = None
    output_schema: Mapping[str, Any] | None = None


class TextChunk(Struct, frozen=True):
    """More of the text part at `part_index` of the response's content."""

    part_index: int
    text: str


class ReasoningChunk(Struct, frozen=True):
    """More of the reasoning part at `part_index` of the response's content."""

    part_index: int
    text: str


class ModelResponse(Struct, frozen=True):
    """The whole reply, always the last item of a stream. The ids of its tool calls are the provider's, unchecked."""

    content: tuple[Part, ...]
    usage: Usage
    finish_reason: str
    model: str
    provider: Provider | None = None

    @property
    def text(self) -> str:
        """The text parts joined."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """In the order in which the model asked."""
        return tuple(part for part in self.content if isinstance(part, ToolCallPart))


ModelEvent = TextChunk | ReasoningChunk | ModelResponse


@runtime_checkable
class Model(Protocol):
    """A source of replies. It keeps nothing between two requests and may serve many at once."""

    @property
    def name(self) -> str:
        """What is stored beside its replies."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The chunks of a reply and then its `ModelResponse`; the chunks of a part joined are that part.

        Raises ModelError and nothing else of its own. Closing the generator, or cancelling the task that reads it,
        ends the request at the provider.
        """
        ...


class ModelError(Exception):
    """A failure of the model or the way to it. The message may be shown to a user; `__cause__` may not.

    `retryable` says whether the same request may succeed later, `retry_after_s` how long the provider asked to wait.
    """

    def __init__(
        self, code: ModelErrorCode, message: str, *, retryable: bool, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.code: ModelErrorCode = code
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
