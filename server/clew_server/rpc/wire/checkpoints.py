"""Checkpoints, and why one failed."""

from __future__ import annotations

from clew.v1 import checkpoint_pb2 as pb
from clew.v1.error_pb2 import FAILURE_CODE_UNSPECIFIED, FailureCode
from clew_engine.checkpoints import Checkpoint
from clew_server.rpc.wire.scalars import enum_name, timestamp
from clew_storage import Status


def to_checkpoint(checkpoint: Checkpoint) -> pb.Checkpoint:
    """A checkpoint."""
    why = checkpoint.failure
    return pb.Checkpoint(
        id=checkpoint.id,
        thread_id=checkpoint.thread_id,
        thread_uid=checkpoint.thread_uid,
        run_id=checkpoint.run_id,
        parent_id=checkpoint.parent_id,
        version=checkpoint.version,
        attempt=checkpoint.attempt,
        status=to_status(checkpoint.status),
        source=pb.CheckpointSource.Value(enum_name("CHECKPOINT_SOURCE", checkpoint.source)),
        step=checkpoint.step,
        failure_code=to_failure_code(why.code) if why else FAILURE_CODE_UNSPECIFIED,
        failure_message=why.message if why else "",
        retryable=why is not None and why.retryable,
        next=checkpoint.next,
        create_time=timestamp(checkpoint.created_at_ms),
    )


def to_status(status: Status | None) -> pb.CheckpointStatus.ValueType:
    """How a head stands; unspecified before the first checkpoint."""
    if status is None:
        return pb.CHECKPOINT_STATUS_UNSPECIFIED
    return pb.CheckpointStatus.Value(enum_name("CHECKPOINT_STATUS", status))


def to_failure_code(code: str) -> FailureCode.ValueType:
    """A failure's code; one that the contract has no name for is INTERNAL."""
    name = enum_name("FAILURE_CODE", code)
    return FailureCode.Value(name if name in FailureCode.keys() else "FAILURE_CODE_INTERNAL")  # noqa: SIM118
