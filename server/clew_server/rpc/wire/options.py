"""How a call wants to be treated, and what makes it the same call when it comes again."""

from __future__ import annotations

from typing import Any, Protocol

from clew.v1 import run_pb2 as pb
from clew_engine.options import Limits, Mutation, OnBusy, OnDisconnect, RunOptions
from clew_server.rpc.wire.scalars import seconds, word

# What is no part of a request's content: the same request id may come with others.
_NOT_CONTENT = ("request_id", "options", "on_busy", "busy_timeout", "actor")


class Deadline(Protocol):
    """As much of a call's context as is needed."""

    def time_remaining(self) -> float | None:
        """Seconds until the caller's deadline; None without one."""
        ...


def run_options_of(options: pb.RunOptions, deadline: Deadline) -> RunOptions:
    """Options of an attempt."""
    policy = OnDisconnect.CONTINUE if options.on_disconnect == pb.DISCONNECT_POLICY_CONTINUE else OnDisconnect.CANCEL
    return RunOptions(
        on_busy=on_busy_of(options.on_busy),
        busy_timeout_s=seconds(options.busy_timeout) if options.HasField("busy_timeout") else None,
        on_disconnect=policy,
        limits=limits_of(options.limits) if options.HasField("limits") else None,
        actor=options.actor,
        deadline_s=deadline.time_remaining(),
    )


def write_options_of(request: Any, deadline: Deadline) -> RunOptions:
    """Options of a write that starts no run; the request has an `actor`, and may say what to do while the thread is busy."""
    busy = "on_busy" in request.DESCRIPTOR.fields_by_name
    return RunOptions(
        on_busy=on_busy_of(request.on_busy) if busy else None,
        busy_timeout_s=seconds(request.busy_timeout) if busy and request.HasField("busy_timeout") else None,
        actor=request.actor,
        deadline_s=deadline.time_remaining(),
    )


def on_busy_of(policy: pb.BusyPolicy.ValueType) -> OnBusy | None:
    """A policy; None is the server's default."""
    if policy == pb.BUSY_POLICY_UNSPECIFIED:
        return None
    return OnBusy(word("BUSY_POLICY", pb.BusyPolicy.Name(policy)))


def limits_of(limits: pb.Limits) -> Limits:
    """Limits; what is unset is none."""
    return Limits(
        steps=limits.max_steps if limits.HasField("max_steps") else None,
        tokens=limits.max_tokens if limits.HasField("max_tokens") else None,
        seconds=seconds(limits.max_duration) if limits.HasField("max_duration") else None,
        tool_seconds=seconds(limits.tool_timeout) if limits.HasField("tool_timeout") else None,
    )


def mutation_of(request: Any) -> Mutation:
    """Request id, expected version and content of any request that changes something."""
    expected = None
    if "expected_version" in request.DESCRIPTOR.fields_by_name and request.HasField("expected_version"):
        expected = request.expected_version
    if not request.request_id:
        return Mutation("", expected)
    content = type(request)()
    content.CopyFrom(request)
    for field in _NOT_CONTENT:
        if field in request.DESCRIPTOR.fields_by_name:
            content.ClearField(field)
    return Mutation(request.request_id, expected, content.SerializeToString(deterministic=True))
