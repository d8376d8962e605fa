"""Rules that fields of one message keep, or break, together. Each takes the message and its path, and raises an InvalidError."""

from __future__ import annotations

from typing import Any

from clew_engine.errors import ArgumentInvalidError
from clew_server.rpc.rules import fields as rule

_NO_VERSION = "a snapshot has no version to expect"
_SENDABLE = frozenset({"text", "image", "audio", "video", "document", "data_json"})
# Of messages that a caller adds; which of them say what, and in which order, is the engine's rule.
_ADDED = _SENDABLE | {"tool_call", "tool_result"}


def part(message: Any, path: str) -> None:
    """A part is of a kind that callers send."""
    kind = message.WhichOneof("kind")
    taken = _ADDED if path.startswith("messages.") else _SENDABLE
    if kind not in taken:
        raise ArgumentInvalidError(f"{path}{kind}", f"a caller sends parts of these kinds: {', '.join(sorted(taken))}")


def send(message: Any, _: str) -> None:
    """Only a thread has a version."""
    if not message.thread_id and message.HasField("expected_version"):
        raise ArgumentInvalidError("expected_version", "a stateless run has no version to expect")


def decide(message: Any, _: str) -> None:
    """A thread or a snapshot, and each approval once."""
    if not message.snapshot:
        rule.required_id(message.thread_id, "thread_id")
        _no_app(message)
    elif message.thread_id:
        raise ArgumentInvalidError("snapshot", "name a thread or give a snapshot, not both")
    elif message.HasField("expected_version"):
        raise ArgumentInvalidError("expected_version", _NO_VERSION)
    seen: set[str] = set()
    for decision in message.decisions:
        if decision.approval_id in seen:
            raise ArgumentInvalidError("decisions.approval_id", f"{decision.approval_id} is decided twice in one call")
        seen.add(decision.approval_id)


def _no_app(message: Any) -> None:
    if message.app:
        raise ArgumentInvalidError("app", "a thread has its app; name one beside a snapshot alone")


def resume(message: Any, _: str) -> None:
    """What only a snapshot, or only a thread, has."""
    if not message.HasField("snapshot"):
        _no_app(message)
    if message.HasField("snapshot") and message.HasField("expected_version"):
        raise ArgumentInvalidError("expected_version", _NO_VERSION)
    if message.value_json or message.HasField("thread_id"):
        rule.json_value(message.value_json, "value_json")


def watch(message: Any, _: str) -> None:
    """A run, or all that follow."""
    if message.follow and message.run_id:
        raise ArgumentInvalidError("follow", "a watch of one run ends with it; leave `run_id` out to stay")


def of_call(message: Any, _: str) -> None:
    """It names a call."""
    if not message.HasField("call"):
        raise ArgumentInvalidError("call", "it is required")


def call_result(message: Any, path: str) -> None:
    """There is something in it."""
    if not message.content and not message.HasField("structured_json"):
        raise ArgumentInvalidError(f"{path}content", "one of these is needed: content, structured_json")


def list_threads(message: Any, _: str) -> None:
    """Metadata is asked for in one way."""
    if message.metadata_value and not message.metadata_key:
        raise ArgumentInvalidError("metadata_key", "a value needs the key that it stands under")
    if message.metadata_key and message.metadata_json:
        raise ArgumentInvalidError("metadata_json", "give it or `metadata_key`, not both")


def update_message(message: Any, _: str) -> None:
    """There is something to change."""
    if not message.content and not message.HasField("metadata_json"):
        raise ArgumentInvalidError("content", "there is nothing to change: give `content` or `metadata_json`")
