"""What is to be done with the open calls of a step: settled, run, or asked about."""

from __future__ import annotations

from typing import Any

import pytest

from clew_engine.approvals import ApprovalKind
from clew_engine.calls import Plan, Settled, plan_calls
from clew_engine.messages import TextPart, ToolCallPart
from clew_engine.tools import Tool, ToolOutput, tool


def said(settled: Settled) -> str:
    """What the model is told without a run of the call."""
    (part,) = settled.output.content
    assert isinstance(part, TextPart)
    return part.text


@tool
def look(order: str = "") -> str:
    """Look an order up."""
    return order


@tool(approve=lambda args: args["amount"] > 5)
def pay(amount: int) -> str:
    """Pay something, and ask first where it is much."""
    return f"paid {amount}"


TOOLS: dict[str, Tool] = {"look": look, "pay": pay}


def planned(
    *calls: ToolCallPart, gated: frozenset[str] = frozenset(), tools: dict[str, Tool] = TOOLS, **continuation: Any
) -> Plan:
    """The plan for these calls, which stand at the places from 5 on."""
    return plan_calls(list(enumerate(calls, start=5)), continuation, tools, gated)


def a_call(name: str = "look", args: str = "{}", call_id: str = "c1") -> ToolCallPart:
    """A call as a model asks for it."""
    return ToolCallPart(call_id, name, args)


def test_a_call_that_needs_nobody_is_ready_with_its_place() -> None:
    (ready,) = planned(a_call(args='{"order": "A"}')).ready
    assert (ready.position, ready.call.id, ready.call.args, ready.values) == (5, "c1", '{"order": "A"}', {"order": "A"})


def test_no_arguments_are_an_empty_object() -> None:
    assert planned(a_call(args="")).ready[0].values == {"order": ""}


def test_an_unknown_tool_is_settled_as_failed_and_the_known_ones_are_named() -> None:
    (settled,) = planned(a_call("nowhere")).settled
    assert (settled.outcome, said(settled)) == ("failed", "there is no tool 'nowhere'; tools: look, pay")


def test_invalid_arguments_are_settled_as_failed() -> None:
    (settled,) = planned(a_call("pay", '{"amount": "x"}')).settled
    assert settled.outcome == "failed"
    assert "amount" in said(settled)


def test_a_gated_call_is_asked_about_with_the_arguments_as_written() -> None:
    (question,) = planned(a_call(args='{ "order":"A" }'), gated=frozenset({"look"})).questions
    assert (question.kind, question.subject, question.arguments) == (ApprovalKind.TOOL_CALL, "c1", '{ "order":"A" }')


@pytest.mark.parametrize(("amount", "asked"), [(5, 0), (6, 1)])
def test_a_rule_decides_by_the_arguments(amount: int, asked: int) -> None:
    assert len(planned(a_call("pay", f'{{"amount": {amount}}}')).questions) == asked


def test_an_approved_call_is_ready_with_the_arguments_of_the_decision() -> None:
    decided = {"c1": {"choice": "approve", "arguments": '{"amount": 3}'}}
    (ready,) = planned(a_call("pay", '{"amount": 9}'), decided=decided).ready
    assert (ready.call.args, ready.values) == ('{"amount": 3}', {"amount": 3})


@pytest.mark.parametrize(("reason", "told"), [("too much", "too much"), ("", "a person rejected this call")])
def test_a_rejected_call_is_settled_with_the_reason(reason: str, told: str) -> None:
    decided = {"c1": {"choice": "reject", "reason": reason}}
    (settled,) = planned(a_call("pay", '{"amount": 9}'), decided=decided).settled
    assert (settled.outcome, said(settled)) == ("rejected", told)


def test_a_started_call_without_a_record_is_asked_about() -> None:
    (question,) = planned(a_call(), intents=["c1"]).questions
    assert (question.kind, question.tool) == (ApprovalKind.TOOL_OUTCOME, "look")


def test_a_started_call_with_edited_arguments_is_asked_about_with_those() -> None:
    decided = {"c1": {"choice": "approve", "arguments": '{"amount":3}'}}
    (question,) = planned(a_call("pay", '{"amount": 9}'), decided=decided, intents=["c1"]).questions
    assert (question.kind, question.arguments) == (ApprovalKind.TOOL_OUTCOME, '{"amount":3}')


def test_a_started_call_that_was_not_approved_again_is_not_run() -> None:
    (question,) = planned(a_call("pay", '{"amount": 9}'), intents=["c1"]).questions
    assert question.kind is ApprovalKind.TOOL_CALL, "the question whether comes before what became of it"


def test_an_outcome_that_a_person_gave_is_settled() -> None:
    outcomes = {"c1": {"choice": "result", "value": '{"a":1.0}'}, "c2": {"choice": "fail", "reason": "lost"}}
    one, other = planned(a_call(), a_call(call_id="c2"), intents=["c1", "c2"], outcomes=outcomes).settled
    assert (one.outcome, one.output) == ("done", ToolOutput((), b'{"a":1.0}'))
    assert (other.outcome, other.output) == ("failed", ToolOutput((TextPart("lost"),)))


def test_calls_are_sorted_each_by_itself() -> None:
    plan = planned(
        a_call("nowhere"),
        a_call(call_id="c2"),
        a_call("pay", '{"amount": 9}', "c3"),
        a_call(call_id="c4"),
        intents=["c4"],
    )
    assert [settled.call.id for settled in plan.settled] == ["c1"]
    assert [ready.call.id for ready in plan.ready] == ["c2"]
    assert [question.subject for question in plan.questions] == ["c3", "c4"]


def test_a_started_call_whose_tool_is_gone_is_settled() -> None:
    (settled,) = planned(a_call(), intents=["c1"], tools={}).settled
    assert (settled.outcome, said(settled)) == ("failed", "there is no tool 'look'; tools: none")
