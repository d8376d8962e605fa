"""A server that says what a case tells it to, event by event: for what no real server does when asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf import json_format

from clew.v1 import event_pb2, run_service_pb2
from tests.client.scripted import Answer, ScriptedServer, for_ever, refuses, replies, streams
from tests.client.telling import (
    approval,
    asked,
    completed,
    delta,
    discarded,
    event,
    failed,
    heartbeat,
    queued,
    said,
    started,
    suspended,
    tool_finished,
    tool_started,
    written,
)

_UNARY = {"CancelRun": run_service_pb2.CancelRunResponse}


def _written(version: int, told: Mapping[str, Any] | None = None) -> event_pb2.Event:
    told = told or {}
    messages = [asked(*each) for each in told.get("asked", ())] + [said(*each) for each in told.get("said", ())]
    return written(version, *messages, **{key: each for key, each in told.items() if key not in ("asked", "said")})


def _completed(version: int, *told: str, with_message: bool = True) -> event_pb2.Event:
    made = completed(version, *told)
    if not with_message:
        made.run_completed.reply.ClearField("message")
    return made


_EVENTS: dict[str, Callable[..., event_pb2.Event]] = {
    "queued": queued,
    "started": started,
    "delta": delta,
    "discarded": discarded,
    "heartbeat": heartbeat,
    "written": _written,
    "tool_started": tool_started,
    "tool_finished": tool_finished,
    "completed": _completed,
    "suspended": lambda version, *ids: suspended(version, *map(approval, ids)),
    "failed": failed,
    # Kinds of a later version of the contract.
    "unknown": event,
}


def an_event(told: list[Any]) -> event_pb2.Event:
    """`["delta", 1, "m2.1", 0, "text"]`: the kind, and what tests/client/telling.py takes for it; an object at the end is its keywords."""
    kind, *rest = told
    named = rest.pop() if rest and isinstance(rest[-1], dict) and kind != "written" else {}
    return _EVENTS[kind](*rest, **named)


def an_answer(rpc: str, told: Any) -> Answer:
    """What the server does when it is called: a list of what a stream says, or the reply of a call that has one."""
    if isinstance(told, dict) and "reply" in told:
        return replies(json_format.ParseDict(told["reply"], _UNARY[rpc]()))
    if isinstance(told, dict):
        refusal: Answer = _refusal(told)
        return refusal
    return streams(*map(_group, told))


def _group(told: Any) -> Any:
    match told:
        case "break":
            return refuses(grpc.StatusCode.UNAVAILABLE)
        case "cut":
            return refuses(grpc.StatusCode.UNAVAILABLE, "STREAM_CUT", version="0")
        case "hang":
            return for_ever
        case {"refuse": _}:
            return _refusal(told)
    return [an_event(each) for each in told]


def _refusal(told: Mapping[str, Any]) -> Any:
    return refuses(
        grpc.StatusCode[told["status"]],
        told["refuse"],
        text=told.get("text", "no"),
        retry_after=told.get("retry_after"),
        **told.get("metadata", {}),
    )


@asynccontextmanager
async def a_scripted_server(told: Mapping[str, list[Any]]) -> AsyncIterator[ScriptedServer]:
    """It answers each RPC by the next of its answers; the last one stays."""
    server = ScriptedServer()
    for rpc, answers in told.items():
        server.on(rpc, *(an_answer(rpc, each) for each in answers))
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def requests(server: ScriptedServer) -> list[dict[str, Any]]:
    """What it was asked, in order."""
    return [
        {"rpc": name, **json_format.MessageToDict(request, preserving_proto_field_name=True)}
        for name, request in server.asked
    ]
