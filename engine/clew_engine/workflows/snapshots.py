"""Snapshots: a workflow's run without a thread as plain JSON, where it paused or failed, to be gone on with anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pydantic

from clew_engine import ids
from clew_engine.approvals import Approval, ApprovalKind, Question, encode_question, view_approval
from clew_engine.checkpoints import Body, Failure, decode_body, encode_body, step_id
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError
from clew_engine.json_text import JsonError, encode, join_object, parse_strict
from clew_engine.state import check_size, parse_state, replacing
from clew_engine.workflows.continuations import STARTED
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.snapshot_checks import (
    Count,
    JsonOrNothing,
    Moment,
    SchemaOrNothing,
    check_memo,
    check_next,
)
from clew_storage import (
    ApprovalRecord,
    ApprovalState,
    CheckpointRecord,
    Source,
    Status,
    ThreadInfo,
    ThreadKey,
    Write,
)

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# The number of the form below. Snapshots of a larger one are refused.
FORMAT = 1
_SOURCES = {Status.SUSPENDED: Source.SUSPEND, Status.FAILED: Source.FAILURE}


@dataclass(frozen=True, slots=True)
class Asked:
    """An approval that waits; `arguments`, `prompt` and `schema` are JSON texts."""

    id: str
    version: Count
    kind: ApprovalKind
    subject: str
    created_at_ms: Moment
    tool: str = ""
    arguments: JsonOrNothing = ""
    prompt: JsonOrNothing = ""
    schema: SchemaOrNothing = ""
    requested_by: str = ""
    expires_at_ms: Moment | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """Why the run failed."""

    code: str
    message: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at its pause or failure. `state` is JSON text, its values byte for byte; `memos` is what was done in the step under way.

    Uid, run id, step and the thread id that tools were told stay what they are, and with them the idempotency keys.
    """

    format: int
    app: str
    status: Status
    uid: str
    run_id: str
    thread_id: str
    version: Count
    attempt: Count
    step: Count
    created_at_ms: Moment
    state: str
    next: Mapping[str, Any]
    memos: tuple[tuple[str, str, str], ...] = ()
    approvals: tuple[Asked, ...] = ()
    failure: Why | None = None

    @property
    def key(self) -> ThreadKey:
        """Where the run is in the storage that it goes on in."""
        return ThreadKey("", self.thread_id)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `parse_snapshot` takes them."""
        plain: dict[str, Any] = parse_strict(self.as_json())
        return plain

    def as_json(self) -> bytes:
        """The same as JSON."""
        return encode(asdict(self))

    def check(self) -> None:
        """Raises ArgumentInvalidError where its parts do not fit each other."""
        ids.check_id(self.thread_id, "snapshot.thread_id")
        run_version = ids.run_version(self.uid, self.run_id)
        if run_version is None or run_version > self.version:
            raise ArgumentInvalidError("snapshot.run_id", "it is not a run of this uid and version")
        if self.status not in _SOURCES:
            raise ArgumentInvalidError("snapshot.status", "it is suspended or failed")
        if "do" not in self.next:
            raise ArgumentInvalidError("snapshot.next.do", "it names no node to go on with")
        if (self.status is Status.SUSPENDED) != bool(self.approvals):
            raise ArgumentInvalidError(
                "snapshot.approvals", "a suspended run waits for answers, and a failed one for none"
            )
        for number, memo in enumerate(self.memos):
            try:
                check_memo(memo)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ArgumentInvalidError(f"snapshot.memos.{number}.2", f"it cannot be read: {error}") from None


_SNAPSHOT = pydantic.TypeAdapter(Snapshot)


def parse_snapshot(given: Mapping[str, Any] | bytes, app: str) -> Snapshot:
    """A snapshot of an app. Raises ArgumentInvalidError for what is none, ResumeInvalidError for one of another app or a newer format."""
    text, number = _format_of(given)
    if number > FORMAT:
        raise ResumeInvalidError(
            f"the snapshot has format {number}, which a newer version wrote; this one reads up to {FORMAT}",
            format=number,
        )
    try:
        found = _SNAPSHOT.validate_json(text, strict=True)
        for name, value in found.next.items():
            check_next(name, value)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        raise ArgumentInvalidError(".".join(map(str, ("snapshot", *first["loc"]))), first["msg"]) from None
    if found.app != app:
        raise ResumeInvalidError(
            f"the snapshot is of app {found.app!r}, not of {app!r}; resume it there", app=found.app, asked_app=app
        )
    found.check()
    return found


def _format_of(given: Mapping[str, Any] | bytes) -> tuple[bytes, int]:
    try:
        text = given if isinstance(given, bytes) else encode(given)
        plain = parse_strict(text)
    except JsonError:
        plain, text = None, b""
    number = plain.get("format") if isinstance(plain, dict) else None
    if not isinstance(number, int) or number < 1:
        raise ArgumentInvalidError(
            "snapshot", "not a snapshot; it is what a Result or a RunFailedError has under that name"
        )
    return text, number


async def take(storage: Storage, key: ThreadKey, program: WorkflowProgram) -> Snapshot:
    """The snapshot of a run that is at rest."""
    async with storage.calling(key):
        head = await storage.backend.threads.get_head(key)
        assert head is not None
        assert head.checkpoint is not None
        memos = await program.memos(storage, key, head.checkpoint)
        state = await storage.backend.threads.get_state(key, version=None) or {}
    record, uid = head.checkpoint, head.thread.uid
    body = decode_body(record.body)
    started = {step_id(node, name, record.step) for node, name in memos.unrecorded()} | set(body.next.get(STARTED, ()))
    why = body.failure
    return Snapshot(
        format=FORMAT,
        app=head.thread.info.app,
        status=record.status,
        uid=uid,
        run_id=ids.run_id(uid, record.run_version),
        thread_id=key.thread_id,
        version=record.version,
        attempt=record.attempt,
        step=record.step,
        created_at_ms=record.created_at_ms,
        state=join_object(state).decode(),
        next={**body.next, **({STARTED: sorted(started)} if started else {})},
        memos=memos.rows(),
        approvals=tuple(_asked(view_approval(approval)) for approval in head.pending),
        failure=Why(why.code, why.message, why.retryable) if why else None,
    )


async def restore(storage: Storage, snapshot: Snapshot) -> None:
    """Make the run's thread anew in a storage that has none: one checkpoint, of the snapshot's version, with all that it says."""
    state = parse_state(snapshot.state.encode(), "snapshot.state")
    check_size(state, storage.tuning.state_limit)
    run_version = ids.run_version(snapshot.uid, snapshot.run_id)
    assert run_version is not None
    why = snapshot.failure
    failure = Failure(why.code, why.message, why.retryable) if why else None
    record = CheckpointRecord(
        version=snapshot.version,
        parent_version=0,
        run_version=run_version,
        attempt=snapshot.attempt,
        status=snapshot.status,
        source=_SOURCES[snapshot.status],
        step=snapshot.step,
        next_position=0,
        created_at_ms=snapshot.created_at_ms,
        body=encode_body(Body(next=snapshot.next, failure=failure, memos=snapshot.memos)),
    )
    async with storage.calling(snapshot.key):
        grant = await storage.backend.leases.acquire(snapshot.key, purpose="write", wait_s=0)
        try:
            await storage.backend.threads.append(
                Write(
                    key=snapshot.key,
                    uid=snapshot.uid,
                    epoch=grant.epoch,
                    expected_version=0,
                    checkpoint=record,
                    info=ThreadInfo(app=snapshot.app),
                    state=replacing(state),
                    approvals=tuple(_record(snapshot, asked, run_version) for asked in snapshot.approvals),
                )
            )
        finally:
            await storage.backend.leases.release(grant)


def _asked(approval: Approval) -> Asked:
    return Asked(
        id=approval.id,
        version=approval.version,
        kind=approval.kind,
        subject=approval.subject,
        created_at_ms=approval.created_at_ms,
        tool=approval.tool,
        arguments=approval.arguments_json,
        prompt=approval.prompt_json,
        schema=approval.schema_json,
        requested_by=approval.requested_by,
        expires_at_ms=approval.expires_at_ms,
    )


def _record(snapshot: Snapshot, asked: Asked, run_version: int) -> ApprovalRecord:
    question = Question(
        kind=asked.kind,
        subject=asked.subject,
        tool=asked.tool,
        arguments=asked.arguments,
        prompt=asked.prompt,
        schema=asked.schema,
        requested_by=asked.requested_by,
        expires_at_ms=asked.expires_at_ms,
    )
    return ApprovalRecord(
        id=asked.id,
        key=snapshot.key,
        uid=snapshot.uid,
        run_version=run_version,
        version=asked.version,
        kind=asked.kind.value,
        state=ApprovalState.PENDING,
        created_at_ms=asked.created_at_ms,
        expires_at_ms=asked.expires_at_ms,
        body=encode_question(question),
    )
