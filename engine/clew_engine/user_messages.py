"""What a user may say in one message."""

from __future__ import annotations

from collections.abc import Sequence

from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import JsonError, parse_strict
from clew_engine.messages import DataPart, MediaPart, Part, TextPart


def check_message(content: Sequence[Part], field: str = "input") -> None:
    """Raises ArgumentInvalidError for a message that says nothing, or what no user says."""
    if all(isinstance(part, TextPart) and not part.text for part in content):
        raise ArgumentInvalidError(field, "a message needs some content")
    for index, part in enumerate(content):
        if not isinstance(part, TextPart | MediaPart | DataPart):
            raise ArgumentInvalidError(f"{field}.parts[{index}]", f"a user's message holds no {type(part).__name__}")
        if isinstance(part, DataPart):
            try:
                parse_strict(part.data)
            except JsonError as error:
                raise ArgumentInvalidError(f"{field}.parts[{index}].data_json", str(error)) from None
