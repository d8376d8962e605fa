"""Checkpoints: the rows of a thread's log."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Status(StrEnum):
    """What a checkpoint says of its run."""

    IN_PROGRESS = "in_progress"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"


class Source(StrEnum):
    """What wrote a checkpoint."""

    INPUT = "input"
    STEP = "step"
    INTENT = "intent"
    SUSPEND = "suspend"
    DECISION = "decision"
    RETRY = "retry"
    FAILURE = "failure"
    FORK = "fork"
    UPDATE = "update"


class CheckpointRecord(Struct, frozen=True):
    """One row of the log. `body` is the engine's JSON: continuation, calls started and finished, failure."""

    version: int
    parent_version: int
    run_version: int
    attempt: int
    status: Status
    source: Source
    step: int
    next_position: int
    created_at_ms: int
    body: bytes = b"{}"


class CheckpointRedaction(Struct, frozen=True):
    """What a stored checkpoint has as its body from now on."""

    version: int
    body: bytes
