"""Turns of an offline model, for its tests."""

from __future__ import annotations

import json
from typing import Any

from clew_engine.messages import Message, Outcome, TextPart, ToolResultPart
from clew_engine.models import ModelResponse, OfflineModel
from tests.models.asking import a_request, reply_of


def answered(name: str, text: str, *, outcome: Outcome = "done", structured: bytes | None = None) -> Message:
    failed = outcome != "done"
    return Message("t", "tool", (ToolResultPart("c", name, (TextPart(text),), structured, failed, outcome),), 0)


def called(response: ModelResponse) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.args)) for call in response.tool_calls]


async def replay(model: OfflineModel, *messages: Message | str) -> ModelResponse:
    return await reply_of(model, a_request(*messages))
