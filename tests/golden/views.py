"""What a driver said of a server's answers, as the plain values that cases are written against: those of the Python client.

A driver gives messages of the contract as base64 of their bytes; the Python driver, whose client has values of its own, gives these as they are.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from clew.event_decoding import event_of
from clew.events import Event, StateReturned
from clew.messages import message_of
from clew.records import approval_of, checkpoint_of, thread_of
from clew.v1 import approval_pb2, checkpoint_pb2, event_pb2, message_pb2, thread_pb2

_READERS: dict[str, tuple[type[Any], Callable[[Any], Any]]] = {
    "event": (event_pb2.Event, event_of),
    "message": (message_pb2.Message, message_of),
    "approval": (approval_pb2.Approval, approval_of),
    "checkpoint": (checkpoint_pb2.Checkpoint, checkpoint_of),
    "thread": (thread_pb2.Thread, thread_of),
}


def view(kind: str, told: Any) -> Any:
    """The plain value of one thing, or of a list of them."""
    if isinstance(told, list):
        return [view(kind, each) for each in told]
    if not isinstance(told, str):
        return told
    message, read = _READERS[kind]
    wire = message()
    wire.ParseFromString(base64.b64decode(told, validate=True))
    return plain(read(wire))


def plain(value: Any) -> Any:
    """A value of the Python client as JSON has it; an event with its `type` and what it says side by side."""
    if isinstance(value, Event):
        said = plain(value.payload)
        if isinstance(value.payload, StateReturned):
            said["state_json"] = value.payload.state_json.decode()
        return {name: plain(each) for name, each in _fields(value).items() if name != "payload"} | {
            "type": value.type,
            **said,
        }
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(each) for name, each in _fields(value).items()}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}
