"""How servers tell each other of text: frames of JSON, in a format of their own that no caller sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from clew_engine.checkpoints import Failure
from clew_engine.events import Event, MessageDiscarded, Payload, ReasoningDelta, TextDelta, ToolCallProgress
from clew_engine.live_text.texts import DELTAS
from clew_storage import ThreadKey

# What says another number is of another release, and passed over: its text is not told, and its messages come with their checkpoints.
FORMAT = 1
REQUESTS = "requests"
_KINDS = {"text": TextDelta, "reasoning": ReasoningDelta}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def topic_of(key: ThreadKey) -> str:
    """Where a thread's text is told. An id has no slash in it, so that no two threads share a topic."""
    return f"text/{key.tenant}/{key.thread_id}"


class Written(Struct, frozen=True):
    """A write was made: the text of all messages but `going` is over, and what it says is in the log."""

    version: int
    going: tuple[str, ...]


class Frame(Struct, frozen=True):
    """What the server that runs a thread says since its last frame. Frames of a `session` are numbered from 0.

    `epoch` is the lease's: of two servers that both believe to run the thread the larger one is right. A `whole` frame has all text so far, each part
    from its first byte.
    """

    sender: str
    uid: str
    epoch: int
    session: str
    number: int
    whole: bool
    items: tuple[Event | Written, ...]


class Request(Struct, frozen=True):
    """What a server wants to hear: the text of `follows`, and of those that are also in `whole` all that there is so far."""

    sender: str
    follows: tuple[ThreadKey, ...]
    whole: tuple[ThreadKey, ...]


def encode_frame(frame: Frame) -> bytes:
    """The frame as bytes; deltas that continue each other as one."""
    head = [FORMAT, frame.sender, frame.uid, frame.epoch, frame.session, frame.number, frame.whole]
    return orjson.dumps([*head, [_encoded(item) for item in merged(frame.items)]])


def decode_frame(payload: bytes, key: ThreadKey) -> Frame | None:
    """The frame, or None for what is none of this format."""
    try:
        found, *head, items = orjson.loads(payload)
        if found != FORMAT:
            return None
        sender, uid, epoch, session, number, whole = head
        return Frame(sender, uid, epoch, session, number, whole, tuple(_decoded(item, key, uid) for item in items))
    except (KeyError, TypeError, ValueError):
        return None


def encode_request(request: Request) -> bytes:
    """The request as bytes."""
    named = [[[key.tenant, key.thread_id] for key in keys] for keys in (request.follows, request.whole)]
    return orjson.dumps([FORMAT, request.sender, *named])


def decode_request(payload: bytes) -> Request | None:
    """The request, or None for what is none of this format."""
    try:
        found, sender, follows, whole = orjson.loads(payload)
        if found != FORMAT:
            return None
        return Request(sender, tuple(_keys(follows)), tuple(_keys(whole)))
    except (TypeError, ValueError):
        return None


def merged(items: Sequence[Event | Written]) -> list[Event | Written]:
    """The same with as few deltas as say it."""
    found: list[Event | Written] = []
    for item in items:
        last = found[-1] if found else None
        if isinstance(item, Event) and isinstance(last, Event) and (both := _both(last, item)) is not None:
            found[-1] = both
        else:
            found.append(item)
    return found


def _both(one: Event, other: Event) -> Event | None:
    before, after = one.payload, other.payload
    if not isinstance(before, DELTAS) or not isinstance(after, DELTAS) or type(before) is not type(after):
        return None
    same = (before.message_id, before.part_index) == (after.message_id, after.part_index)
    if not same or before.offset + len(before.text.encode()) != after.offset:
        return None
    return replace(one, payload=replace(before, text=before.text + after.text))


def _encoded(item: Event | Written) -> list[Any]:
    if isinstance(item, Written):
        return ["written", item.version, item.going]
    head = [item.version, item.run_id, item.created_at_ms]
    payload = item.payload
    if isinstance(payload, DELTAS):
        return [_NAMES[type(payload)], *head, payload.message_id, payload.part_index, payload.offset, payload.text]
    if isinstance(payload, ToolCallProgress):
        return ["progress", *head, payload.call_id, payload.name, payload.progress.decode(), payload.node]
    assert isinstance(payload, MessageDiscarded)
    why = payload.failure
    return ["discarded", *head, payload.message_id, why.code, why.message, why.retryable]


def _decoded(item: list[Any], key: ThreadKey, uid: str) -> Event | Written:
    kind, version, *rest = item
    if kind == "written":
        return Written(version, tuple(rest[0]))
    run_id, created_at_ms, *said = rest
    return Event(key.thread_id, uid, run_id, version, False, created_at_ms, _payload(kind, *said))


def _payload(kind: str, of: str, *said: Any) -> Payload:
    if kind == "progress":
        name, progress, node = said
        return ToolCallProgress(of, name, progress.encode(), node)
    return MessageDiscarded(of, Failure(*said)) if kind == "discarded" else _KINDS[kind](of, *said)


def _keys(named: Iterable[Sequence[str]]) -> Iterable[ThreadKey]:
    return (ThreadKey(tenant, thread_id) for tenant, thread_id in named)
