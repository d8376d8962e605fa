"""What people are asked about calls whose outcome nobody knows."""

from __future__ import annotations

from clew_engine import ids
from clew_engine.approvals import ApprovalKind, view_approval
from clew_storage import ApprovalRecord, CallName, Head


def question_about(head: Head, call: CallName) -> ApprovalRecord | None:
    """The pending question about a call, if there is one."""
    for record in head.pending:
        if record.kind == ApprovalKind.TOOL_OUTCOME:
            approval = view_approval(record)
            key = ids.idempotency_key(record.key.tenant, record.uid, approval.run_id, approval.subject)
            if key == call.name:
                return record
    return None
