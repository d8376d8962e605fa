"""Enums and times of the wire as the words and numbers that users read."""

from __future__ import annotations

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from clew.errors import ArgumentInvalidError


def word_of(enum: Any, number: int) -> str:
    """`CHECKPOINT_STATUS_IN_PROGRESS` as `in_progress`; empty for what is unspecified or not known to this version."""
    value = enum.DESCRIPTOR.values_by_number.get(number)
    if value is None or number == 0:
        return ""
    return str(value.name).removeprefix(_prefix(enum)).lower()


def number_of(enum: Any, word: str | None, field: str) -> Any:
    """The other way; 0 for nothing. Raises ArgumentInvalidError, naming the field, for a word that is none of the enum's."""
    if not word:
        return 0
    value = enum.DESCRIPTOR.values_by_name.get(_prefix(enum) + word.upper())
    if value is None or value.number == 0:
        words = ", ".join(word_of(enum, each.number) for each in enum.DESCRIPTOR.values if each.number)
        raise ArgumentInvalidError(f"{field}: {word!r} is none of {words}", metadata={"field": field})
    return value.number


def ms_of(time: Timestamp) -> int:
    """Milliseconds since 1970."""
    return time.seconds * 1000 + time.nanos // 1_000_000


def _prefix(enum: Any) -> str:
    return str(enum.DESCRIPTOR.values_by_number[0].name).removesuffix("UNSPECIFIED")
