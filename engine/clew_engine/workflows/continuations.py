"""What a workflow's continuation says: which nodes come next, and what is known of the step under way. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from clew_engine.approvals import ApprovalKind, Choice, Question
from clew_engine.calls import GIVEN
from clew_engine.json_text import encode
from clew_engine.messages import Usage

# Answers by what they are about, and what was asked and is not answered.
ANSWERS, ASKED = "answers", "asked"
# Steps that another line has started; who has arrived at joins; what models have used; the version of the workflow.
STARTED, ARRIVED, USED, SCHEMA = "started", "arrived", "used", "v"
# Nodes whose step was ended from outside, with a pause after them that is still to be asked.
PASSED = "passed"
# What of a step goes on into the next.
_KEPT = (USED, SCHEMA)


def nodes_of(continuation: Mapping[str, Any]) -> list[str]:
    """The nodes that come next."""
    names = continuation.get("do", ())
    return [names] if isinstance(names, str) else list(names)


def answer_to(continuation: Mapping[str, Any], subject: str) -> Mapping[str, Any] | None:
    """The answer to a question, or None while it waits."""
    found: Mapping[str, Any] | None = continuation.get(ANSWERS, {}).get(subject)
    return found


def with_answers(continuation: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """With answers to what was asked. They count when the last one is in; a cancel before that voids them."""
    given = {**continuation.get(GIVEN, {}), **answers}
    left = [asked for asked in continuation.get(ASKED, ()) if asked["subject"] not in answers]
    if left:
        return {**continuation, GIVEN: given, ASKED: left}
    rest = {name: value for name, value in continuation.items() if name not in (GIVEN, ASKED)}
    return {**rest, ANSWERS: {**continuation.get(ANSWERS, {}), **given}}


def without_answers(continuation: Mapping[str, Any], subjects: Iterable[str]) -> dict[str, Any]:
    """Where these questions are asked again when they come up."""
    gone = set(subjects)
    kept = {subject: given for subject, given in continuation.get(ANSWERS, {}).items() if subject not in gone}
    return {**continuation, ANSWERS: kept}


def asking(continuation: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
    """With what a suspension asks."""
    return {**continuation, ASKED: [_row(question) for question in questions]}


def asked(continuation: Mapping[str, Any]) -> list[Question]:
    """What was asked and is not answered."""
    return [
        Question(
            **{name: value for name, value in row.items() if name not in ("kind", "was")},
            kind=ApprovalKind(row["kind"]),
        )
        for row in continuation.get(ASKED, ())
    ]


def subject_of(continuation: Mapping[str, Any], approval_subject: str) -> str:
    """What an approval is about, by the names that the nodes have now."""
    for row in continuation.get(ASKED, ()):
        if row.get("was", row["subject"]) == approval_subject:
            return str(row["subject"])
    return approval_subject


def following(
    continuation: Mapping[str, Any], names: Sequence[str], arrived: Mapping[str, Sequence[str]], step: int
) -> dict[str, Any]:
    """The continuation of the next step."""
    next_: dict[str, Any] = {"do": list(names)}
    next_ |= {name: continuation[name] for name in _KEPT if name in continuation}
    if arrived:
        next_[ARRIVED] = dict(arrived)
    # A step of a later number may have been started on another line too, and is met when its turn comes.
    started = [each for each in continuation.get(STARTED, ()) if step_number(each) >= step]
    if started:
        next_[STARTED] = started
    return next_


def step_number(step_id: str) -> int:
    """The number at the end of what `step_id` made; -1 for the id of an agent's call."""
    number = step_id.rpartition("@")[2]
    return int(number) if number.isdigit() else -1


def usage_of(continuation: Mapping[str, Any]) -> Usage:
    """What models used in the steps before this one."""
    return Usage(*continuation.get(USED, ()))


def with_usage(continuation: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
    """With what models have used until now."""
    if not usage.total_tokens:
        return dict(continuation)
    used = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_input_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
    )
    return {**continuation, USED: used}


def static_pause(when: str, name: str, prefix: str = "") -> Question:
    """The pause before or after a named node."""
    return Question(ApprovalKind.PAUSE, f"{prefix}{when} {name}", prompt=encode({when: name}).decode())


def static_pauses(continuation: Mapping[str, Any], pause_before: Container[str]) -> list[Question]:
    """The pauses at nodes that are due here: after what was passed, before what comes next; those without an answer."""
    due = [static_pause("after", name) for name in continuation.get(PASSED, ())]
    due += [static_pause("before", name) for name in nodes_of(continuation) if name in pause_before]
    return [question for question in due if answer_to(continuation, question.subject) is None]


def rejected_pauses(continuation: Mapping[str, Any]) -> dict[str, str]:
    """The static pauses that a person rejected, each with the reason; what nodes ask has a `:` or `/` in its subject."""
    return {
        subject: str(answer.get("reason") or "a person rejected it")
        for subject, answer in continuation.get(ANSWERS, {}).items()
        if answer["choice"] == Choice.REJECT and ":" not in subject and "/" not in subject
    }


def _row(question: Question) -> dict[str, str]:
    row = {
        "kind": question.kind.value,
        "subject": question.subject,
        "tool": question.tool,
        "arguments": question.arguments,
        "prompt": question.prompt,
        "schema": question.schema,
    }
    return {name: value for name, value in row.items() if value}
