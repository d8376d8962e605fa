"""Answers as people write them in Python, as decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from clew_engine.approvals import Choice, Decision, arguments_text
from clew_engine.errors import ArgumentInvalidError

Decisions = Mapping[str, Any] | Iterable[Decision]


def decisions_of(decisions: Decisions) -> tuple[Decision, ...]:
    """Decisions as they are, or from approval ids to answers. Raises ArgumentInvalidError for an answer that is none.

    A dict maps approval ids to True or "approve", False or "reject", or one choice by name: `{"approve": True}`, `{"arguments": {…}}` (approve with
    these), `{"reject": "why"}`, `{"value": …}`, `{"run_again": True}`, `{"result": …}`, `{"fail": "why"}`.
    """
    if not isinstance(decisions, Mapping):
        return _made(decisions)
    return tuple(_decision(approval_id, answer) for approval_id, answer in decisions.items())


def _made(decisions: Any) -> tuple[Decision, ...]:
    listed = isinstance(decisions, Iterable) and not isinstance(decisions, str | bytes)
    given: tuple[Any, ...] = tuple(decisions) if listed else (decisions,)
    for each in given:
        if not isinstance(each, Decision):
            kind = type(each).__name__
            raise ArgumentInvalidError("decisions", f"a dict or a list of Decision is due here, not {kind}")
    return given


def _decision(approval_id: str, answer: Any) -> Decision:
    if answer is True or answer == "approve":
        return Decision.approve(approval_id)
    if answer is False or answer == "reject":
        return Decision.reject(approval_id)
    try:
        ((name, value),) = answer.items()
        return _MAKERS[name](approval_id, value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArgumentInvalidError(
            "decisions",
            f"{answer!r} does not say what to do with {approval_id}; give True, False, or one of {', '.join(_MAKERS)}",
            approval_id=approval_id,
        ) from None


def _approve(approval_id: str, value: Any) -> Decision:
    _only_true(value)
    return Decision.approve(approval_id)


def _arguments(approval_id: str, value: Any) -> Decision:
    return Decision(approval_id, Choice.APPROVE, arguments=arguments_text(value))


def _reject(approval_id: str, value: Any) -> Decision:
    return Decision.reject(approval_id, _text(value))


def _run_again(approval_id: str, value: Any) -> Decision:
    _only_true(value)
    return Decision.run_again(approval_id)


def _fail(approval_id: str, value: Any) -> Decision:
    return Decision.fail(approval_id, _text(value))


_MAKERS: dict[str, Callable[[str, Any], Decision]] = {
    "approve": _approve,
    "arguments": _arguments,
    "reject": _reject,
    "value": Decision.answer,
    "run_again": _run_again,
    "result": Decision.result,
    "fail": _fail,
}


def _only_true(value: Any) -> None:
    """`{"approve": False}` must not approve."""
    if value is not True:
        raise TypeError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
