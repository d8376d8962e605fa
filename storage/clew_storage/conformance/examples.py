"""What the tests write: records with everything filled in, and short ways to write a thread."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from clew_storage.port import Backend
from clew_storage.records import (
    ApprovalRecord,
    ApprovalState,
    CheckpointRecord,
    Grant,
    MessageRecord,
    RequestRecord,
    Source,
    StateChange,
    Status,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
    Write,
    Written,
)

NOW = 1_790_000_000_000
KEY = ThreadKey("acme", "thread-1")
OTHER = ThreadKey("acme", "thread-2")
UID = "uid-1"


def a_checkpoint(version: int = 1, **changes: Any) -> CheckpointRecord:
    """A checkpoint that continues the version before."""
    made = CheckpointRecord(
        version=version,
        parent_version=version - 1,
        run_version=1,
        attempt=1,
        status=Status.IN_PROGRESS,
        source=Source.INPUT if version == 1 else Source.STEP,
        step=version,
        next_position=version + 1,
        created_at_ms=NOW + version,
        body=b'{"step":%d}' % version,
    )
    return replace(made, **changes)


def a_message(version: int, position: int | None = None, **changes: Any) -> MessageRecord:
    """A message; at the position that is the version when none is given."""
    made = MessageRecord(
        id=f"m{version}.0",
        version=version,
        position=version if position is None else position,
        role="user",
        created_at_ms=NOW + version,
        body=b'{"text":"%d"}' % version,
    )
    return replace(made, **changes)


def an_approval(version: int, number: int = 0, **changes: Any) -> ApprovalRecord:
    """A pending approval that a checkpoint asks for."""
    made = ApprovalRecord(
        id=f"{UID}.a{version}.{number}",
        key=KEY,
        uid=UID,
        run_version=1,
        version=version,
        kind="TOOL_CALL",
        state=ApprovalState.PENDING,
        created_at_ms=NOW + version,
        expires_at_ms=None,
        body=b'{"tool":"refund"}',
    )
    return replace(made, **changes)


def a_request(number: int = 1, **changes: Any) -> RequestRecord:
    """A committed send."""
    made = RequestRecord(
        request_hash=number.to_bytes(16, "big"),
        body_digest=(number + 1000).to_bytes(16, "big"),
        verb="send",
        uid=UID,
        version=1,
        created_at_ms=NOW,
        reply=b'{"n":1}',
    )
    return replace(made, **changes)


def a_thread(key: ThreadKey = OTHER, **changes: Any) -> ThreadRecord:
    """A thread that is to be made."""
    made = ThreadRecord(
        key=key,
        uid="uid-2",
        info=ThreadInfo(app="support", user_id="ada", name="made", metadata=b'{"k":"v"}'),
        head_version=0,
        head_status=None,
        epoch=0,
        created_at_ms=NOW,
        updated_at_ms=NOW,
    )
    return replace(made, **changes)


def a_write(grant: Grant, version: int = 1, **changes: Any) -> Write:
    """A write of one checkpoint and nothing else."""
    made = Write(
        key=grant.key,
        uid=UID,
        epoch=grant.epoch,
        expected_version=version - 1,
        checkpoint=a_checkpoint(version),
        info=ThreadInfo(app="support", user_id="ada") if version == 1 else None,
    )
    return replace(made, **changes)


async def a_grant(backend: Backend, key: ThreadKey = KEY) -> Grant:
    """The lease of a thread that nobody holds."""
    return await backend.leases.acquire(key, purpose="run", wait_s=0)


async def grow(backend: Backend, grant: Grant, versions: range, *, uid: str = UID) -> None:
    """Write these versions, each with a message at the position of its version and a value in the state."""
    for version in versions:
        await backend.threads.append(
            a_write(
                grant,
                version,
                uid=uid,
                messages=(a_message(version),),
                state=StateChange(replaced={"last": b"%d" % version}, appended={"all": (b"%d" % version,)}),
            )
        )


async def fork(backend: Backend, grant: Grant, version: int, target: int, **changes: Any) -> Written:
    """Write a head that continues an older version."""
    checkpoint = a_checkpoint(version, parent_version=target, run_version=version, source=Source.FORK)
    return await backend.threads.append(a_write(grant, version, checkpoint=checkpoint, fork_of=target, **changes))


async def a_line(backend: Backend, length: int = 3, key: ThreadKey = KEY) -> Grant:
    """A thread with that many checkpoints, as `grow` writes them, and its lease."""
    grant = await a_grant(backend, key)
    await grow(backend, grant, range(1, length + 1))
    return grant
