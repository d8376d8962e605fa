"""What a person decides on an approval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clew.errors import ArgumentInvalidError
from clew.json_text import encode_json, encode_object
from clew.v1 import run_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer to one approval; made by `approve`, `reject`, `answer`, `run_again`, `result` and `fail`."""

    approval_id: str
    choice: str
    value: Any = None

    @classmethod
    def approve(cls, approval_id: str, arguments: dict[str, Any] | None = None) -> Decision:
        """Let a tool call run: as asked, or with other arguments."""
        return cls(approval_id, "approve", True) if arguments is None else cls(approval_id, "arguments", arguments)

    @classmethod
    def reject(cls, approval_id: str, reason: str = "") -> Decision:
        """Keep a tool call from running, or leave a pause without an answer; the model reads the reason."""
        return cls(approval_id, "reject", reason)

    @classmethod
    def answer(cls, approval_id: str, value: Any) -> Decision:
        """Give a pause its value."""
        return cls(approval_id, "value", value)

    @classmethod
    def run_again(cls, approval_id: str) -> Decision:
        """Start a call whose outcome is not known again, knowing that it may have taken effect."""
        return cls(approval_id, "run_again", True)

    @classmethod
    def result(cls, approval_id: str, value: Any) -> Decision:
        """Say that a call whose outcome is not known took effect, and what its result is."""
        return cls(approval_id, "result", value)

    @classmethod
    def fail(cls, approval_id: str, reason: str) -> Decision:
        """Say that a call whose outcome is not known failed; the model reads the reason."""
        return cls(approval_id, "fail", reason)


Decisions = Mapping[str, Any] | Iterable[Decision]


def decisions_of(decisions: Decisions) -> list[pb.Decision]:
    """Decisions as they travel.

    A dict maps approval ids to True or "approve", False or "reject", or one choice by name: `{"approve": True}`, `{"arguments": {…}}` (approve with
    these), `{"reject": "why"}`, `{"value": …}`, `{"run_again": True}`, `{"result": …}`, `{"fail": "why"}`.
    """
    if isinstance(decisions, Mapping):
        decisions = [_decision(approval_id, choice) for approval_id, choice in decisions.items()]
    given: Any = decisions
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise _no_decision(given)
    return [_wire(decision) for decision in given]


def _decision(approval_id: str, choice: Any) -> Decision:
    if choice is True or choice == "approve":
        return Decision.approve(approval_id)
    if choice is False or choice == "reject":
        return Decision.reject(approval_id)
    try:
        ((name, value),) = choice.items()
    except (AttributeError, ValueError):
        raise _unclear(approval_id, choice) from None
    return Decision(approval_id, name, value)


def _wire(decision: Any) -> pb.Decision:
    if not isinstance(decision, Decision):
        raise _no_decision(decision)
    try:
        wire = pb.Decision(approval_id=decision.approval_id)
    except (TypeError, ValueError):
        raise _unclear(decision.approval_id, decision.choice) from None
    write = _WRITERS.get(decision.choice)
    if write is None:
        raise _unclear(decision.approval_id, decision.choice)
    try:
        write(wire, decision.value)
    except (TypeError, ValueError):
        raise _unclear(decision.approval_id, decision.value) from None
    return wire


def _approve(wire: pb.Decision, value: Any) -> None:
    _only_true(value)
    wire.approve.SetInParent()


def _arguments(wire: pb.Decision, value: Any) -> None:
    wire.approve.arguments_json = encode_object(value, "decisions.approve.arguments_json")


def _reject(wire: pb.Decision, value: Any) -> None:
    wire.reject.SetInParent()
    wire.reject.reason = value


def _value(wire: pb.Decision, value: Any) -> None:
    wire.value_json = encode_json(value, "decisions.value_json")


def _run_again(wire: pb.Decision, value: Any) -> None:
    _only_true(value)
    wire.outcome.run_again.SetInParent()


def _result(wire: pb.Decision, value: Any) -> None:
    wire.outcome.result_json = encode_json(value, "decisions.outcome.result_json")


def _fail(wire: pb.Decision, value: Any) -> None:
    wire.outcome.fail = value


_WRITERS: dict[str, Callable[[pb.Decision, Any], None]] = {
    "approve": _approve,
    "arguments": _arguments,
    "reject": _reject,
    "value": _value,
    "run_again": _run_again,
    "result": _result,
    "fail": _fail,
}


def _only_true(value: Any) -> None:
    """`{"approve": False}` must not approve."""
    if value is not True:
        raise TypeError


def _no_decision(given: Any) -> ArgumentInvalidError:
    text = f"decisions: a dict or a list of Decision is due here, not {type(given).__name__}"
    return ArgumentInvalidError(text, metadata={"field": "decisions"})


def _unclear(approval_id: str, choice: Any) -> ArgumentInvalidError:
    return ArgumentInvalidError(
        f"decisions: {choice!r} does not say what to do with {approval_id}; give True, False, or one of {', '.join(_WRITERS)}",
        metadata={"field": "decisions", "approval_id": str(approval_id)},
    )
