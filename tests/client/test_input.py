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


# What no duration of the contract holds, which go on for longer than the clock of gRPC.
NO_DURATIONS = [float("inf"), 1e300, 10**30, 10**400, float("nan")]
FIRST_AFTER_GRPCS_CLOCK = 9.3e9


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ("no", "limits"),
        ({"steps": 1}, "limits"),
        (Limits(steps="no"), "options.limits.max_steps"),  # type: ignore[arg-type]
        (Limits(tokens=1 << 70), "options.limits.max_tokens"),
        *((Limits(steps=each), "options.limits.max_steps") for each in (2**31, 10**30, 1.5, float("inf"))),  # type: ignore[arg-type]
        *((Limits(seconds=each), "options.limits.max_duration") for each in NO_DURATIONS),
        *((Limits(tool_seconds=each), "options.limits.tool_timeout") for each in NO_DURATIONS),
    ],
)
async def test_limits_that_are_none_are_refused_by_name(limits: Any, field: str) -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(ArgumentInvalidError) as refusal:
            await client.app("support").thread("t").send("hello", limits=limits)
    assert refusal.value.metadata["field"] == field


@pytest.mark.parametrize("seconds", [FIRST_AFTER_GRPCS_CLOCK, *NO_DURATIONS])
async def test_a_time_that_no_clock_holds_is_refused_and_not_taken_for_one_that_is_over(seconds: float) -> None:
    with pytest.raises(ArgumentInvalidError) as refusal:
        Client("localhost:1", timeout=seconds)
    assert refusal.value.metadata["field"] == "timeout"
    async with Client("localhost:1") as client:
        thread = client.app("support").thread("t")
        with pytest.raises(ArgumentInvalidError) as refusal:
            await thread.send("hello", timeout=seconds)
        assert refusal.value.metadata["field"] == "timeout"
        with pytest.raises(ArgumentInvalidError) as refusal:
            await thread.retry(busy_timeout=seconds)
        assert refusal.value.metadata["field"] == "busy_timeout"
        with pytest.raises(ArgumentInvalidError) as refusal:
            thread.watch(timeout=seconds)
    assert refusal.value.metadata["field"] == "timeout"


@pytest.mark.parametrize("value", [{1: "a"}, [{"deep": {None: 1}}], float("nan"), "\ud800", object()])
async def test_a_value_that_is_no_json_is_refused(value: Any) -> None:
    async with Client("localhost:1") as client:
        with pytest.raises(StateInvalidError):
            await client.app("support").thread("t").send("hello", value=value)
