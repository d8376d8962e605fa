"""What people may answer at most: an answer that could not be kept, or not be shown, is refused before anything is written."""

from __future__ import annotations

from clew_engine.approvals import Approval, Choice, Decision
from clew_engine.calls import result_message
from clew_engine.errors import StateTooLargeError
from clew_engine.message_codec import encode_message
from clew_engine.messages import Message
from clew_engine.options import Tuning
from clew_engine.program import Program
from clew_engine.tools import ToolOutput


def check_size(approval: Approval, decision: Decision, program: Program, tuning: Tuning) -> None:
    """Raises StateTooLargeError for a result that cannot be recorded, and a value or arguments that no approval can carry."""
    if decision.choice is Choice.RESULT and decision.value is not None:
        # What is done inside a node is kept as its state is.
        limit = tuning.state_limit if program.kind == "workflow" else tuning.message_limit
        size = _recorded(approval, decision.value)
        field = "decisions.outcome.result_json"
    elif decision.value is not None:
        size, limit, field = len(decision.value.encode()), tuning.message_limit, "decisions.value_json"
    elif decision.arguments is not None:
        # An approval shows what was asked beside what was decided.
        size = len(approval.arguments_json.encode()) + len(decision.arguments.encode())
        limit, field = tuning.message_limit, "decisions.approve.arguments_json"
    else:
        return
    if size > limit:
        raise StateTooLargeError(f"the answer to {approval.id}", size, limit, field)


def _recorded(approval: Approval, value: str) -> int:
    """What the message weighs that holds a result."""
    drafted = result_message(0, approval.tool_call_id, approval.tool, "done", ToolOutput((), value.encode()))
    return len(encode_message(Message("result", drafted.role, drafted.content, 0)))
