"""Requests that start an attempt, as they travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from clew.errors import ArgumentInvalidError
from clew.json_text import encode_object
from clew.messages import content_of
from clew.options import Limits, OnBusy, new_request_id, run_options
from clew.v1 import run_pb2
from clew.v1 import run_service_pb2 as pb

# A user's text, the parts of a user's message, or what a workflow starts with.
Input = str | Sequence[Mapping[str, Any]] | Mapping[str, Any]


class RunArguments(TypedDict, total=False):
    """What every verb that starts an attempt takes. Times are seconds.

    `on_busy`, `busy_timeout`: what to do while another run holds the thread (`wait`, `reject`, `interrupt`), and for how long. `limits`: what the
    attempt may use. `expected_version`: the version that the thread must have. `request_id`: made up unless given; repeat one to get the same
    outcome. `timeout`: for the whole call; a run that has started goes on when it is over.
    """

    on_busy: OnBusy | None
    busy_timeout: float | None
    limits: Limits | None
    expected_version: int | None
    request_id: str | None
    timeout: float | None


class WriteArguments(TypedDict, total=False):
    """What every verb that writes from outside a run takes. Times are seconds.

    `force`: write to a thread that waits for decisions, too; they stay to be made. The others are those of RunArguments.
    """

    force: bool
    on_busy: OnBusy | None
    busy_timeout: float | None
    expected_version: int | None
    request_id: str | None


@dataclass(frozen=True, slots=True)
class Frame:
    """What requests that start an attempt have in common."""

    thread_id: str
    actor: str
    request_id: str
    expected_version: int | None
    options: run_pb2.RunOptions
    timeout: float | None


def frame_of(thread_id: str, actor: str, arguments: RunArguments) -> Frame:
    """The frame of one request, however often it has to be sent. Raises ArgumentInvalidError, naming the field."""
    expected = arguments.get("expected_version")
    if expected is not None and expected < 0:
        # Said here too, since what decides all that waits reads before it asks.
        text = "expected_version: a version is not negative"
        raise ArgumentInvalidError(text, metadata={"field": "expected_version"})
    return Frame(
        thread_id=thread_id,
        actor=actor,
        request_id=arguments.get("request_id") or new_request_id(),
        expected_version=expected,
        options=run_options(arguments.get("on_busy"), arguments.get("busy_timeout"), arguments.get("limits"), actor),
        timeout=arguments.get("timeout"),
    )


def merged(state: Mapping[str, Any] | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """State that is given in a dict and by name. Raises ArgumentInvalidError for a key that is given in both."""
    twice = [name for name in values if name in (state or {})]
    if twice:
        text = f"state: {twice[0]!r} is given twice, in `state` and beside it; give it once"
        raise ArgumentInvalidError(text, metadata={"field": "state"})
    return {**(state or {}), **values}


def send_request(
    frame: Frame,
    app: str,
    message: Input,
    state: Mapping[str, Any],
    user_id: str | int | None,
    metadata: Mapping[str, Any] | None,
) -> pb.SendRequest:
    """An input with the state values that go with it. `user_id` names whom a new thread belongs to, and beside a message is one of the values."""
    request = pb.SendRequest(
        thread_id=frame.thread_id,
        app=app,
        request_id=frame.request_id,
        expected_version=frame.expected_version,
        options=frame.options,
    )
    if isinstance(message, str):
        request.text = _text(message)
    elif isinstance(message, Mapping):
        request.input_json = encode_object(dict(message), "input_json").encode()
    else:
        request.content.SetInParent()
        request.content.parts.extend(content_of(_parts(message)))
    values = dict(state)
    if user_id is not None:
        request.user_id = str(user_id)
        if not isinstance(message, Mapping):
            values.setdefault("user_id", user_id)
    if values:
        request.state_json = encode_object(values, "state_json").encode()
    if metadata is not None:
        request.metadata_json = encode_object(dict(metadata), "metadata_json")
    return request


def decide_request(frame: Frame, decisions: Sequence[pb.Decision], read_at: int | None = None) -> pb.DecideRequest:
    """Decisions on what was read at a version."""
    return pb.DecideRequest(
        thread_id=frame.thread_id,
        decisions=decisions,
        request_id=frame.request_id,
        expected_version=read_at if frame.expected_version is None else frame.expected_version,
        options=frame.options,
    )


def _parts(message: Any) -> Sequence[Mapping[str, Any]]:
    kind = type(message).__name__
    if isinstance(message, Sequence) and not isinstance(message, bytes | bytearray | memoryview):
        if all(isinstance(part, Mapping) for part in message):
            return message
        kind = f"a {kind} with {next(type(part).__name__ for part in message if not isinstance(part, Mapping))} in it"
    raise ArgumentInvalidError(
        f"input: a text, a list of parts (dicts) or a dict is due here, not {kind}", metadata={"field": "input"}
    )


def _text(message: str) -> str:
    try:
        message.encode()
    except UnicodeEncodeError:
        raise ArgumentInvalidError("input: text with half of a surrogate pair", metadata={"field": "input"}) from None
    return message
