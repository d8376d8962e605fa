"""What a message is made of: parts, where they came from, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

Role = Literal["system", "user", "assistant", "tool"]
MediaKind = Literal["image", "audio", "video", "document"]
Outcome = Literal["done", "failed", "rejected", "cancelled", "unknown"]

ROLES: frozenset[str] = frozenset(get_args(Role))
MEDIA_KINDS: frozenset[str] = frozenset(get_args(MediaKind))
OUTCOMES: frozenset[str] = frozenset(get_args(Outcome))


def check_text(value: object, field: str) -> None:
    """Text is any str that UTF-8 can hold: NUL is allowed, half of a surrogate pair is not."""
    if type(value) is str and value.isascii():  # most text, for a fraction of the price of what follows
        return
    if not isinstance(value, str):
        raise ValueError(f"{field} must be text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{field} has a lone surrogate at character {error.start}") from None


def check_optional_text(value: object, field: str) -> None:
    """As `check_text`, where nothing is allowed too."""
    if value is not None:
        check_text(value, field)


def check_json(value: object, field: str) -> None:
    """Raw JSON is checked by whoever parses it; here it only has to be bytes that are text."""
    if not isinstance(value, bytes):
        raise ValueError(f"{field} must be JSON bytes, not {type(value).__name__}")
    try:
        value.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{field} is not UTF-8 at byte {error.start}") from None


def check_one_of(value: object, allowed: frozenset[str], field: str) -> None:
    """Refuse a word that is not one of the allowed ones."""
    if value not in allowed:
        raise ValueError(f"{field} must be one of {', '.join(sorted(allowed))}, not {value!r}")


def check_count(value: object, field: str) -> None:
    """Refuse what cannot count anything; true is not 1 here."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{field} must be a whole number of 0 or more, not {value!r}")


class Provider(Struct, frozen=True):
    """What only its maker understands. `id` is the provider's own id of the part, or of the response on a message."""

    name: str
    id: str | None = None
    signature: str | None = None
    details: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_text(self.name, "provider.name")
        if self.id is not None:
            check_text(self.id, "provider.id")
        if self.signature is not None:
            check_text(self.signature, "provider.signature")


class Usage(Struct, frozen=True):
    """Tokens of one response. Cached input is part of the input, reasoning is part of the output."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __post_init__(self) -> None:
        check_count(self.input_tokens, "usage.input_tokens")
        check_count(self.output_tokens, "usage.output_tokens")
        check_count(self.cached_input_tokens, "usage.cached_input_tokens")
        check_count(self.cache_write_tokens, "usage.cache_write_tokens")
        check_count(self.reasoning_tokens, "usage.reasoning_tokens")

    @property
    def total_tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


class _Part(Struct, frozen=True, kw_only=True):
    """`extra` holds the keys of a newer writer, so that an older program gives back what it does not know."""

    part_id: str | None = None
    provider: Provider | None = None
    extra: Mapping[str, Any] | None = None


class TextPart(_Part, frozen=True):
    """What was said."""

    text: str

    def __post_init__(self) -> None:
        check_text(self.text, "text")


class ReasoningPart(_Part, frozen=True):
    """What the model thought. Its signature, if any, is in `provider` and goes back to that provider alone."""

    reasoning: str

    def __post_init__(self) -> None:
        check_text(self.reasoning, "reasoning")


class MediaPart(_Part, frozen=True):
    """A picture, sound, film or document: exactly one of the bytes, an address or a provider's file id."""

    kind: MediaKind
    mime_type: str
    data: bytes | None = None
    uri: str | None = None
    file_id: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_one_of(self.kind, MEDIA_KINDS, "kind")
        check_text(self.mime_type, "mime_type")
        if sum(source is not None for source in (self.data, self.uri, self.file_id)) != 1:
            raise ValueError(f"{self.kind} needs exactly one of data, uri and file_id")
        if self.data is not None and not isinstance(self.data, bytes):
            raise ValueError(f"data must be bytes, not {type(self.data).__name__}")
        check_optional_text(self.uri, "uri")
        check_optional_text(self.file_id, "file_id")
        check_optional_text(self.name, "name")


class ToolCallPart(_Part, frozen=True):
    """`args` is the text that the model wrote, which need not be valid JSON."""

    id: str
    name: str
    args: str

    def __post_init__(self) -> None:
        check_text(self.id, "id")
        check_text(self.name, "name")
        check_text(self.args, "args")


class DataPart(_Part, frozen=True):
    """A JSON value, as the bytes that were sent."""

    data: bytes

    def __post_init__(self) -> None:
        check_json(self.data, "data")


class UnknownPart(_Part, frozen=True):
    """A part of a kind that only a newer version knows, kept as its whole JSON object."""

    json: bytes

    def __post_init__(self) -> None:
        check_json(self.json, "json")


class ToolResultPart(_Part, frozen=True):
    """The one outcome of a tool call. `structured` is its JSON value; where `content` is empty, the model reads that JSON.

    Content that is nothing but the text of the JSON is not held beside it.
    """

    tool_call_id: str
    name: str
    content: tuple[Part, ...] = ()
    structured: bytes | None = None
    is_error: bool = False
    outcome: Outcome = "done"

    def __post_init__(self) -> None:
        check_text(self.tool_call_id, "tool_call_id")
        check_text(self.name, "name")
        check_parts(self.content, IN_RESULTS)
        if self.structured is not None:
            check_json(self.structured, "structured")
            if self._repeats(self.structured):
                force_setattr(self, "content", ())
        if not isinstance(self.is_error, bool):
            raise ValueError(f"is_error must be true or false, not {self.is_error!r}")
        check_one_of(self.outcome, OUTCOMES, "outcome")

    @property
    def shown(self) -> tuple[Part, ...]:
        """What the model reads: the content, or the JSON as text."""
        if not self.content and self.structured is not None:
            return (TextPart(self.structured.decode()),)
        return self.content

    @property
    def text(self) -> str:
        """What the model reads of it, as far as it is text."""
        return "".join(part.text for part in self.shown if isinstance(part, TextPart))

    def _repeats(self, structured: bytes) -> bool:
        return self.content == (TextPart(structured.decode()),)


Part = TextPart | ReasoningPart | MediaPart | ToolCallPart | ToolResultPart | DataPart | UnknownPart

IN_RESULTS: frozenset[type] = frozenset({TextPart, MediaPart, DataPart, UnknownPart})
IN_MESSAGES: frozenset[type] = frozenset(get_args(Part))


def check_parts(content: object, allowed: frozenset[type]) -> None:
    """Refuse anything but a tuple of parts of the kinds that may stand there."""
    if not isinstance(content, tuple):
        raise ValueError(f"content must be a tuple of parts, not {type(content).__name__}")
    for part in content:
        if type(part) not in allowed:
            raise ValueError(f"content[{content.index(part)}] cannot be a {type(part).__name__} here")
