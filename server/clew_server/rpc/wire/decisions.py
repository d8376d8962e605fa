"""What a person decided."""

from __future__ import annotations

from clew.v1 import run_service_pb2 as pb
from clew_engine.approvals import Choice, Decision
from clew_engine.errors import ArgumentInvalidError


def decision_of(decision: pb.Decision) -> Decision:
    """A decision on one approval."""
    named = decision.approval_id
    match decision.WhichOneof("decision"):
        case "approve":
            edited = decision.approve.HasField("arguments_json")
            arguments = decision.approve.arguments_json if edited else None
            return Decision(named, Choice.APPROVE, arguments=arguments)
        case "reject":
            return Decision(named, Choice.REJECT, reason=decision.reject.reason)
        case "value_json":
            return Decision(named, Choice.VALUE, value=decision.value_json)
        case "outcome":
            return _outcome(named, decision.outcome)
        case _:
            raise ArgumentInvalidError("decisions.decision", "a decision is needed")


def _outcome(named: str, outcome: pb.Decision.Outcome) -> Decision:
    match outcome.WhichOneof("outcome"):
        case "run_again":
            return Decision(named, Choice.RUN_AGAIN)
        case "result_json":
            return Decision(named, Choice.RESULT, value=outcome.result_json)
        case "fail":
            return Decision(named, Choice.FAIL, reason=outcome.fail)
        case _:
            raise ArgumentInvalidError("decisions.outcome.outcome", "an outcome is needed")
