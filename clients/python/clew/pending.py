"""All that a thread waits for, to be decided at once, and what the same request decided when it came before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import groupby

import grpc

from clew.connection import Connection
from clew.errors import (
    CheckpointNotFoundError,
    ClewError,
    ResumeInvalidError,
    ThreadInterruptedError,
    ThreadNotFoundError,
    VersionConflictError,
)
from clew.v1 import (
    approval_pb2,
    approval_service_pb2,
    checkpoint_pb2,
    checkpoint_service_pb2,
    thread_pb2,
    thread_service_pb2,
)
from clew.v1 import run_service_pb2 as pb

# How a decision on what was decided before is refused where the request is new.
_NOT_RECORDED = ("approval_already_decided", "version_conflict", "resume_invalid", "thread_interrupted", "thread_busy")
_STATES = (approval_pb2.APPROVAL_STATE_APPROVED, approval_pb2.APPROVAL_STATE_REJECTED)


async def pending_ids(connection: Connection, thread_id: str, expected: int | None = None) -> tuple[list[str], int]:
    """The approvals that a thread waits for, and the version that they were read at. Raises what deciding nothing would be refused with.

    A thread without any that is not at the expected version is refused for that, as the server does where there are some.
    """
    request = approval_service_pb2.ListApprovalsRequest(thread_id=thread_id)
    found: list[str] = []
    version = 0
    try:
        while True:
            page = await connection.ask(connection.approvals.ListApprovals, request)
            found += [approval.id for approval in page.approvals]
            version = version or page.version
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
        if found:
            return found, version
        raise await _why_nothing_waits(connection, thread_id, expected)
    except ThreadNotFoundError:
        raise _elsewhere(thread_id, expected, 0) or _nothing(thread_id) from None


async def _why_nothing_waits(connection: Connection, thread_id: str, expected: int | None) -> ClewError:
    request = thread_service_pb2.GetThreadRequest(thread_id=thread_id)
    thread = (await connection.ask(connection.threads.GetThread, request)).thread
    elsewhere = _elsewhere(thread_id, expected, thread.version)
    if elsewhere is not None:
        return elsewhere
    if thread.run.state == thread_pb2.RUN_STATE_INTERRUPTED:
        return ThreadInterruptedError(
            f"run {thread.run.run_id} of thread {thread_id} was interrupted; retry continues it",
            metadata={"run_id": thread.run.run_id},
        )
    return _nothing(thread_id)


def _elsewhere(thread_id: str, expected: int | None, version: int) -> VersionConflictError | None:
    if expected is None or expected == version:
        return None
    return VersionConflictError(
        f"thread {thread_id!r} is at version {version}, not at {expected}; read it again and decide anew",
        metadata={"thread_id": thread_id, "expected_version": str(expected), "version": str(version)},
    )


def _nothing(thread_id: str) -> ResumeInvalidError:
    return ResumeInvalidError(f"thread {thread_id} waits for no decision", metadata={"thread_id": thread_id})


async def decided_before(connection: Connection, thread_id: str) -> AsyncIterator[tuple[list[str], int]]:
    """Approvals that one call decided, with the version that it read them at; the newest first.

    What was decided stays decided: to ask the server about it again, under whatever request id, has no effect.
    """
    decided: list[approval_pb2.Approval] = []
    for state in _STATES:
        request = approval_service_pb2.ListApprovalsRequest(thread_id=thread_id, state=state)
        while True:
            try:
                page = await connection.ask(connection.approvals.ListApprovals, request)
            except ThreadNotFoundError:
                return
            decided += page.approvals
            request.page_token = page.next_page_token
            if not page.next_page_token:
                break
    for group in _together(decided):
        version = await _decided_at(connection, group[0])
        if version:
            yield [approval.id for approval in group], version - 1


async def is_recorded(connection: Connection, request: pb.DecideRequest) -> bool:
    """Whether a decision that cannot be made any more was made by this very request. Raises RequestIdReusedError for an id of another body."""
    call = connection.runs.Decide(request, timeout=connection.settings.timeout, metadata=connection.metadata())
    try:
        async for _ in call:
            return True
    except grpc.aio.AioRpcError as refused:
        error = connection.error_of(refused)
        if error.code in _NOT_RECORDED:
            return False
        raise error from None
    finally:
        call.cancel()
    return False


def _together(decided: list[approval_pb2.Approval]) -> Iterator[list[approval_pb2.Approval]]:
    """What was decided in one write, as it was listed while it waited."""
    decided.sort(key=_moment, reverse=True)
    for _, group in groupby(decided, key=_moment):
        yield sorted(group, key=lambda approval: _number(approval.id))


def _moment(approval: approval_pb2.Approval) -> tuple[int, int]:
    return approval.decide_time.ToNanoseconds(), approval.version


def _number(approval_id: str) -> int:
    return int(approval_id.rpartition(".")[2])


async def _decided_at(connection: Connection, approval: approval_pb2.Approval) -> int | None:
    """The version of the checkpoint that decided: one soon after the one that asked. It may stand on a line that was left."""
    version = approval.version
    while True:
        version += 1
        request = checkpoint_service_pb2.GetCheckpointRequest(
            thread_id=approval.thread_id, checkpoint_id=f"{approval.thread_uid}.{version}"
        )
        try:
            found = (await connection.ask(connection.checkpoints.GetCheckpoint, request)).checkpoint
        except (CheckpointNotFoundError, ThreadNotFoundError):
            return None
        if found.source == checkpoint_pb2.CHECKPOINT_SOURCE_DECISION and found.create_time == approval.decide_time:
            return version
        if found.create_time.ToNanoseconds() > approval.decide_time.ToNanoseconds():
            return None
