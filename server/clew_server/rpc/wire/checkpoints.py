"""Checkpoints, and why one failed."""

from __future__ import annotations

from functools import cache

from clew.v1 import checkpoint_pb2 as pb
from clew.v1.error_pb2 import FailureCode
from clew_engine.checkpoints import Checkpoint
from clew_server.rpc.wire.scalars import enum_name, put_time
from clew_storage import Source, Status


def to_checkpoint(checkpoint: Checkpoint) -> pb.Checkpoint:
    """A checkpoint."""
    wire = pb.Checkpoint()
    put_checkpoint(checkpoint, wire)
    return wire


def put_checkpoint(checkpoint: Checkpoint, wire: pb.Checkpoint) -> None:
    """As `to_checkpoint`, into a message that is there."""
    wire.id = checkpoint.id
    wire.thread_id = checkpoint.thread_id
    wire.thread_uid = checkpoint.thread_uid
    wire.run_id = checkpoint.run_id
    wire.parent_id = checkpoint.parent_id
    wire.version = checkpoint.version
    wire.attempt = checkpoint.attempt
    wire.status = to_status(checkpoint.status)
    wire.source = _to_source(checkpoint.source)
    wire.step = checkpoint.step
    if checkpoint.failure:
        wire.failure_code = to_failure_code(checkpoint.failure.code)
        wire.failure_message = checkpoint.failure.message
        wire.retryable = checkpoint.failure.retryable
    wire.next.extend(checkpoint.next)
    put_time(checkpoint.created_at_ms, wire.create_time)


@cache
def to_status(status: Status | None) -> pb.CheckpointStatus.ValueType:
    """How a head stands; unspecified before the first checkpoint."""
    if status is None:
        return pb.CHECKPOINT_STATUS_UNSPECIFIED
    return pb.CheckpointStatus.Value(enum_name("CHECKPOINT_STATUS", status))


@cache
def _to_source(source: Source) -> pb.CheckpointSource.ValueType:
    return pb.CheckpointSource.Value(enum_name("CHECKPOINT_SOURCE", source))


def to_failure_code(code: str) -> FailureCode.ValueType:
    """A failure's code; one that the contract has no name for is INTERNAL."""
    name = enum_name("FAILURE_CODE", code)
    return FailureCode.Value(name if name in FailureCode.keys() else "FAILURE_CODE_INTERNAL")  # noqa: SIM118
