"""Answers as people write them in Python, as decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clew_engine.approvals import Choice, Decision
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import JsonError, encode

_WORDS = {True: Choice.APPROVE, False: Choice.REJECT, "approve": Choice.APPROVE, "reject": Choice.REJECT}
_NAMES = {choice.value: choice for choice in Choice} | {"arguments": Choice.APPROVE}
_HOW = (
    'answer with True, False, "approve", "reject", or one of {"arguments": …}, {"reject": "why"}, {"value": …}, '
    '{"run_again": True}, {"result": …}, {"fail": "why"}'
)


def decisions_of(answers: Mapping[str, Any] | Sequence[Decision]) -> tuple[Decision, ...]:
    """Decisions as they are, or from approval ids to answers. Raises ArgumentInvalidError for an answer that is none."""
    if not isinstance(answers, Mapping):
        return tuple(answers)
    return tuple(_decision(approval_id, answer) for approval_id, answer in answers.items())


def _decision(approval_id: str, answer: Any) -> Decision:
    if isinstance(answer, bool | str):
        choice = _WORDS.get(answer)
        if choice is None:
            raise ArgumentInvalidError("decisions", _HOW)
        return Decision(approval_id, choice)
    if not isinstance(answer, Mapping) or len(answer) != 1:
        raise ArgumentInvalidError("decisions", _HOW)
    ((name, value),) = answer.items()
    choice = _NAMES.get(name)
    if choice is None:
        raise ArgumentInvalidError("decisions", _HOW)
    return Decision(
        approval_id,
        choice,
        arguments=_json(value) if choice is Choice.APPROVE and value is not True else None,
        value=_json(value) if choice in (Choice.VALUE, Choice.RESULT) else None,
        reason=str(value) if choice in (Choice.REJECT, Choice.FAIL) else "",
    )


def _json(value: Any) -> str:
    try:
        return encode(value).decode()
    except JsonError as error:
        raise ArgumentInvalidError("decisions", str(error)) from None
