"""How a call wants to be treated: busy threads, limits, and who asks."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

from google.protobuf.duration_pb2 import Duration

from clew.errors import ArgumentInvalidError
from clew.v1 import run_pb2
from clew.words import number_of

OnBusy = Literal["wait", "reject", "interrupt"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one attempt may use; None is the app's own limit. Times are seconds, `tokens` counts what models read and wrote."""

    steps: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    tool_seconds: float | None = None


def run_options(
    on_busy: OnBusy | None, busy_timeout: float | None, limits: Limits | None, actor: str
) -> run_pb2.RunOptions:
    """The options of an attempt. The run goes on when its stream breaks: who leaves on purpose cancels it by name."""
    options = run_pb2.RunOptions(
        on_busy=number_of(run_pb2.BusyPolicy, on_busy, "options.on_busy"),
        on_disconnect=run_pb2.DISCONNECT_POLICY_CONTINUE,
        actor=actor,
    )
    if busy_timeout is not None:
        options.busy_timeout.CopyFrom(duration_of(busy_timeout, "options.busy_timeout"))
    if limits is not None:
        if not isinstance(limits, Limits):
            raise _no_limits(f"options.limits: a Limits is due here, not {type(limits).__name__}", "options.limits")
        options.limits.CopyFrom(_wire_limits(limits))
    return options


def duration_of(seconds: float, field: str) -> Duration:
    """Seconds as they travel. Raises ArgumentInvalidError, naming the field, for what is no time."""
    duration = Duration()
    try:
        duration.FromNanoseconds(round(seconds * 1e9))
    except (OverflowError, TypeError, ValueError):
        text = f"{field}: {seconds!r} is no number of seconds"
        raise ArgumentInvalidError(text, metadata={"field": field}) from None
    return duration


def new_request_id() -> str:
    """Names one request, however often it has to be sent."""
    return str(uuid.uuid4())


def _wire_limits(limits: Limits) -> run_pb2.Limits:
    wire = run_pb2.Limits()
    for field, count in (("max_steps", limits.steps), ("max_tokens", limits.tokens)):
        try:
            if count is not None:
                setattr(wire, field, count)
        except (TypeError, ValueError):
            name = f"options.limits.{field}"
            raise _no_limits(f"{name}: {count!r} is no count", name) from None
    if limits.seconds is not None:
        wire.max_duration.CopyFrom(duration_of(limits.seconds, "options.limits.max_duration"))
    if limits.tool_seconds is not None:
        wire.tool_timeout.CopyFrom(duration_of(limits.tool_seconds, "options.limits.tool_timeout"))
    return wire


def _no_limits(text: str, field: str) -> ArgumentInvalidError:
    return ArgumentInvalidError(text, metadata={"field": field})
