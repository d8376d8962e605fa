"""The write that makes an older checkpoint the head again: of its thread (rewind), or of a thread of its own (copy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_engine.approvals import ApprovalKind, Question, view_approval
from clew_engine.checkpoints import Failure, decode_body
from clew_engine.drafts import Draft
from clew_engine.log_events import view_message
from clew_engine.program import Program
from clew_engine.transcripts import Transcript
from clew_storage import CheckpointRecord, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_REWOUND = Failure(
    "rewound", "the run was rewound to the middle of its work; retry continues it from there", retryable=True
)
_PAGE = 500


async def fork_draft(
    storage: Storage, key: ThreadKey, uid: str, target: CheckpointRecord, program: Program, head_version: int
) -> Draft:
    """Completed and failed keep their status, in progress becomes failed (`rewound`), suspended asks its questions anew.

    A `once` call that was started anywhere after the target, and is open at it, has an outcome that this line does not know.
    """
    body = decode_body(target.body)
    records = await storage.backend.messages.list_messages(key, at_version=target.version)
    transcript = Transcript(map(view_message, records))
    once = program.once_calls(body.next, transcript)
    continuation = body.next
    if once and target.version < head_version:
        started = await _started_after(storage, key, uid, target.version)
        continuation = program.meet_started(body.next, once & started)
    failed = target.status is Status.IN_PROGRESS
    return Draft(
        Source.FORK,
        Status.FAILED if failed else target.status,
        next=continuation,
        questions=await _questions(storage, key, uid, target),
        void_approvals=True,
        failure=_REWOUND if failed else body.failure,
        usage=body.usage,
        partial=body.partial,
        new_run=True,
        fork_of=target,
    )


async def _started_after(storage: Storage, key: ThreadKey, uid: str, version: int) -> frozenset[str]:
    started: set[str] = set()
    while True:
        entries = await storage.backend.threads.read_log(
            key, uid, after_version=version, limit=_PAGE, max_bytes=1 << 20
        )
        if not entries:
            return frozenset(started)
        for entry in entries:
            version = entry.checkpoint.version
            if entry.checkpoint.source is Source.INTENT:
                started.update(call.id for call in decode_body(entry.checkpoint.body).started)


async def _questions(storage: Storage, key: ThreadKey, uid: str, target: CheckpointRecord) -> tuple[Question, ...]:
    """What waited at the target, asked anew: of a suspend all it asked, of a decision what it left open."""
    if target.status is not Status.SUSPENDED:
        return ()
    body = decode_body(target.body)
    if body.waiting:
        found = [await storage.backend.approvals.get_approval(key.tenant, each) for each in body.waiting]
        records = [record for record in found if record is not None]
    else:
        log = await storage.backend.threads.read_log(key, uid, after_version=target.version - 1, limit=1, max_bytes=1)
        records = [record for entry in log for record in entry.approvals]
    asked = [view_approval(record) for record in records]
    return tuple(
        Question(
            kind=ApprovalKind(each.kind),
            subject=each.subject,
            tool=each.tool,
            arguments=each.arguments,
            prompt=each.prompt,
            schema=each.schema,
            requested_by=each.requested_by,
            expires_at_ms=_renewed(storage, each.created_at_ms, each.expires_at_ms),
        )
        for each in asked
    )


def _renewed(storage: Storage, created_at_ms: int, expires_at_ms: int | None) -> int | None:
    return None if expires_at_ms is None else storage.now_ms() + expires_at_ms - created_at_ms
