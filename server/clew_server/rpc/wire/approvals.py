"""Approvals, as they are read."""

from __future__ import annotations

from clew.v1 import approval_pb2 as pb
from clew_engine.approvals import Approval
from clew_server.rpc.wire.scalars import enum_name, timestamp


def to_approval(approval: Approval) -> pb.Approval:
    """An approval."""
    return pb.Approval(
        id=approval.id,
        thread_id=approval.thread_id,
        thread_uid=approval.thread_uid,
        run_id=approval.run_id,
        version=approval.version,
        kind=pb.ApprovalKind.Value(enum_name("APPROVAL_KIND", approval.kind)),
        state=pb.ApprovalState.Value(enum_name("APPROVAL_STATE", approval.state)),
        tool=approval.tool,
        tool_call_id=approval.tool_call_id,
        arguments_json=approval.arguments_json,
        arguments_digest=approval.arguments_digest,
        requested_by=approval.requested_by,
        create_time=timestamp(approval.created_at_ms),
        expire_time=None if approval.expires_at_ms is None else timestamp(approval.expires_at_ms),
        decided_by=approval.decided_by,
        decide_time=None if approval.decided_at_ms is None else timestamp(approval.decided_at_ms),
        reason=approval.reason,
        prompt_json=approval.prompt_json,
        schema_json=approval.schema_json,
        decided_arguments_json=approval.decided_arguments_json,
        subject=approval.subject,
    )
