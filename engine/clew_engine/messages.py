"""The stored message: frozen values that every model, store and client shares.

They hold what the provider sent and nothing of any provider's own classes. The bytes on disk are in `message_codec`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import asdict

from clew_engine.message_parts import (
    IN_MESSAGES,
    MEDIA_KINDS,
    OUTCOMES,
    ROLES,
    DataPart,
    MediaKind,
    MediaPart,
    Outcome,
    Part,
    Provider,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    Usage,
    check_count,
    check_one_of,
    check_optional_text,
    check_parts,
    check_text,
)
from clew_engine.message_view import view_part, view_provider

__all__ = [
    "MEDIA_KINDS",
    "OUTCOMES",
    "ROLES",
    "DataPart",
    "MediaKind",
    "MediaPart",
    "Message",
    "Outcome",
    "Part",
    "Provider",
    "ReasoningPart",
    "Role",
    "TextPart",
    "ToolCallPart",
    "ToolResultPart",
    "UnknownPart",
    "Usage",
    "content_of",
    "spoken_texts",
    "user_message",
]


class Message(Struct, frozen=True):
    """One entry of a transcript. `position` is its place there, `version` the write that made it."""

    id: str
    role: Role
    content: tuple[Part, ...]
    created_at_ms: int
    position: int = 0
    version: int = 0
    model: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    provider: Provider | None = None
    metadata: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_one_of(self.role, ROLES, "role")
        check_parts(self.content, IN_MESSAGES)
        check_count(self.created_at_ms, "created_at_ms")
        check_count(self.position, "position")
        check_count(self.version, "version")
        check_optional_text(self.model, "model")
        check_optional_text(self.finish_reason, "finish_reason")

    @property
    def text(self) -> str:
        """What a reader is shown: the text parts joined, without reasoning, calls or results."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """In the order in which the model asked."""
        return tuple(part for part in self.content if isinstance(part, ToolCallPart))

    @property
    def tool_results(self) -> tuple[ToolResultPart, ...]:
        """The outcomes that this message carries."""
        return tuple(part for part in self.content if isinstance(part, ToolResultPart))

    def as_dict(self, reasoning: bool = False) -> dict[str, Any]:
        """Plain JSON values: `["content"][0]["text"]` is a plain reply. Reasoning is left out unless asked for."""
        view: dict[str, Any] = {
            "id": self.id,
            "role": self.role,
            "content": [view_part(part) for part in self.content if reasoning or not isinstance(part, ReasoningPart)],
            "created_at_ms": self.created_at_ms,
            "position": self.position,
            "version": self.version,
        }
        if self.model is not None:
            view["model"] = self.model
        if self.usage is not None:
            view["usage"] = asdict(self.usage) | {"total_tokens": self.usage.total_tokens}
        if self.finish_reason is not None:
            view["finish_reason"] = self.finish_reason
        if self.provider is not None:
            view["provider"] = view_provider(self.provider, "response_id")
        if self.metadata is not None:
            view["metadata"] = dict(self.metadata)
        return view


def spoken_texts(message: Message) -> list[str]:
    """What is looked through for words: the text of the message, and of the results in it."""
    inner = [part for result in message.tool_results for part in result.shown]
    return [part.text for part in (*message.content, *inner) if isinstance(part, TextPart)]


def content_of(value: str | Part | Iterable[Part]) -> tuple[Part, ...]:
    """The content that a text, one part or several parts stand for."""
    if isinstance(value, str):
        return (TextPart(value),)
    if type(value) in IN_MESSAGES:
        return (cast("Part", value),)
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return tuple(value)
    raise ValueError(f"content must be text or parts, not {type(value).__name__}")


def user_message(
    content: str | Part | Iterable[Part],
    *,
    message_id: str = "",
    created_at_ms: int = 0,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """A user's message; who stores it gives it its id, time and place."""
    return Message(message_id, "user", content_of(content), created_at_ms, metadata=metadata)
