"""What the client refuses to send, before it asks any server."""

from __future__ import annotations

from typing import Any

import pytest

from clew import ArgumentInvalidError, Client, Limits, StateInvalidError


@pytest.mark.parametrize("message", ["\ud800", 5, None, object(), b"bytes", ["text"], [{"text": "a"}, 1]])
async def test_a_message_that_is_none_is_refused_by_name(message: Any) -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(ArgumentInvalidError, match="input") as refusal:
            await client.app("support").thread("t").send(message)
    assert refusal.value.metadata["field"] == "input"


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ("no", "limits"),
        ({"steps": 1}, "limits"),
        (Limits(steps="no"), "options.limits.max_steps"),  # type: ignore[arg-type]
        (Limits(tokens=1 << 70), "options.limits.max_tokens"),
    ],
)
async def test_limits_that_are_none_are_refused_by_name(limits: Any, field: str) -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(ArgumentInvalidError) as refusal:
            await client.app("support").thread("t").send("hello", limits=limits)
    assert refusal.value.metadata["field"] == field


@pytest.mark.parametrize("value", [{1: "a"}, [{"deep": {None: 1}}], float("nan"), "\ud800", object()])
async def test_a_value_that_is_no_json_is_refused(value: Any) -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(StateInvalidError):
            await client.app("support").thread("t").send("hello", value=value)
