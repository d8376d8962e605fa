"""Times, JSON and enums on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from clew_engine.json_text import encode

# What a message of the contract may weigh in all, and what one value in it may: both leave room for what is around it.
MESSAGE_BYTES = 4 << 20
VALUE_BYTES = 3_670_016


def timestamp(milliseconds: int) -> Timestamp:
    """Milliseconds since 1970 as a Timestamp."""
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)


def put_time(milliseconds: int, wire: Timestamp) -> None:
    """As `timestamp`, into the field that is to have it: what is handed to a message's constructor is copied there."""
    wire.seconds = milliseconds // 1000
    wire.nanos = milliseconds % 1000 * 1_000_000


def seconds(duration: Duration) -> float:
    """A Duration in seconds."""
    return duration.seconds + duration.nanos / 1_000_000_000


def milliseconds(duration: Duration) -> int:
    """A Duration in whole milliseconds; a part of one counts as one."""
    return duration.seconds * 1000 - (-duration.nanos // 1_000_000)


def json_text(value: Mapping[str, Any] | None) -> str:
    """A JSON object as text; empty for none."""
    return "" if value is None else encode(value).decode()


def enum_name(prefix: str, value: str) -> str:
    """The name that the contract gives to one of the engine's words."""
    return f"{prefix}_{value.upper()}"


def word(prefix: str, name: str) -> str:
    """The engine's word for a name of the contract."""
    return name.removeprefix(f"{prefix}_").lower()
