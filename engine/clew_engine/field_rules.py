"""Rules of the small fields that callers fill in: how long each may be, and what it may hold. Sizes are bytes of UTF-8."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from clew_engine.errors import ArgumentInvalidError, StateInvalidError
from clew_engine.json_text import JsonError, encode, split_object

W = TypeVar("W", bound=StrEnum)
MAX_NAME = 1024
MAX_USER_ID = 256
MAX_ACTOR = 256
MAX_REASON = 4096
MAX_METADATA = 64 << 10
MAX_NAMESPACE = 256
MAX_CACHE_KEY = 1024
# The 128 characters that a name of a node has at most.
MAX_NODE = 512
# Messages that one call may add.
MAX_APPENDED = 500


def check_text_size(value: str, field: str, most: int) -> None:
    """Raises ArgumentInvalidError for a text that is too long, has a NUL in it, or is no text that UTF-8 can hold."""
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ArgumentInvalidError(field, "text with a lone surrogate") from None
    if size > most:
        raise ArgumentInvalidError(field, f"at most {most} bytes, these are {size}")
    if "\x00" in value:
        raise ArgumentInvalidError(field, "it may not have a NUL in it")


def check_any_text(value: str, field: str, most: int, *, least: int = 0) -> None:
    """Raises ArgumentInvalidError for what is no text that UTF-8 can hold, or not of a size within these."""
    if not isinstance(value, str):
        raise ArgumentInvalidError(field, f"text is due here, not {type(value).__name__}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ArgumentInvalidError(field, "text with a lone surrogate") from None
    if not least <= size <= most:
        raise ArgumentInvalidError(field, f"{least} to {most} bytes, these are {size}")


def check_metadata(metadata: bytes, field: str = "metadata_json") -> None:
    """Raises StateInvalidError or ArgumentInvalidError for metadata that is no small JSON object."""
    if len(metadata) > MAX_METADATA:
        raise ArgumentInvalidError(field, f"at most {MAX_METADATA} bytes, these are {len(metadata)}")
    try:
        split_object(metadata)
    except JsonError as error:
        raise StateInvalidError(field, str(error)) from None


def wanted_metadata(wanted: object, field: str = "metadata") -> bytes | None:
    """What a thread's metadata must have, of a dict or a pair; None for no wish. Raises ArgumentInvalidError."""
    if wanted is None:
        return None
    if isinstance(wanted, tuple) and len(wanted) == 2:
        wanted = {wanted[0]: wanted[1]}
    if not isinstance(wanted, dict):
        raise ArgumentInvalidError(field, "a dict or a pair of a key and its value is due here")
    for key, value in wanted.items():
        if not (value is None or isinstance(value, str | bool | int | float)):
            raise ArgumentInvalidError(field, f"the value under {key!r} is no string, number, boolean or null")
    try:
        text = encode(wanted)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None
    if len(text) > MAX_METADATA:
        raise ArgumentInvalidError(field, f"at most {MAX_METADATA} bytes, these are {len(text)}")
    return text if wanted else None


def word_of(kind: type[W], word: str, field: str) -> W | None:
    """What a word names; None for none. Raises ArgumentInvalidError."""
    try:
        return kind(word) if word else None
    except ValueError:
        raise ArgumentInvalidError(field, f"{word!r} is none of {', '.join(kind)}") from None
