"""The write that makes an older checkpoint the head again: of its thread (rewind), or of a thread of its own (copy)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.approvals import Approval, ApprovalKind, Question, view_approval
from clew_engine.checkpoints import Failure, decode_body
from clew_engine.drafts import Draft
from clew_engine.log_events import view_message
from clew_engine.messages import Message
from clew_engine.program import Program
from clew_engine.started_once import started_after
from clew_engine.transcripts import Transcript
from clew_storage import CheckpointRecord, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_REWOUND = Failure(
    "rewound", "the run was rewound to the middle of its work; retry continues it from there", retryable=True
)
_MESSAGES = 50


async def fork_draft(
    storage: Storage, key: ThreadKey, uid: str, target: CheckpointRecord, program: Program | None, head_version: int
) -> Draft:
    """Completed and failed keep their status, in progress becomes failed (`rewound`), suspended asks its questions anew.

    A `once` call that was started anywhere after the target, and is open at it, has an outcome that this line does not know. `program` is
    None where no app has run on the thread.
    """
    if program is None:
        return Draft(Source.FORK, target.status, void_approvals=True, new_run=True, fork_of=target)
    body = decode_body(target.body)
    continuation = body.next
    transcript = await _since_the_request(storage, key, target) if continuation else Transcript()
    if target.version < head_version and program.may_have_started(continuation, transcript):
        started = await started_after(storage, key, uid, target.version)
        continuation = program.meet_started(continuation, transcript, target.step, started)
    questions = await _questions(storage, key, uid, target, program, transcript)
    # A thread that waits for nothing could not be answered: it is failed then, and a retry asks or goes on.
    failed = target.status is Status.IN_PROGRESS or (target.status is Status.SUSPENDED and not questions)
    return Draft(
        Source.FORK,
        Status.FAILED if failed else target.status,
        next=continuation,
        questions=questions,
        void_approvals=True,
        failure=_REWOUND if failed else body.failure,
        usage=body.usage,
        partial=body.partial,
        new_run=True,
        fork_of=target,
    )


async def _since_the_request(storage: Storage, key: ThreadKey, target: CheckpointRecord) -> Transcript:
    """As much of the transcript as tells which calls are open: from the newest message that asks for any."""
    found: list[Message] = []
    while True:
        # What was said after the target has later places, and is not looked at.
        after = found[-1].position if found else target.next_position
        records = await storage.backend.messages.list_messages(
            key, at_version=target.version, after_position=after, limit=_MESSAGES, newest_first=True
        )
        found += map(view_message, records)
        if len(records) < _MESSAGES or any(message.tool_calls for message in found[-len(records) :]):
            return Transcript(reversed(found))


async def _questions(
    storage: Storage, key: ThreadKey, uid: str, target: CheckpointRecord, program: Program, transcript: Transcript
) -> tuple[Question, ...]:
    """What waited at the target, asked anew: of a suspend all it asked, of a decision what it left open."""
    if target.status is not Status.SUSPENDED:
        return ()
    body = decode_body(target.body)
    if body.waiting:
        found = [await storage.backend.approvals.get_approval(key.tenant, each) for each in body.waiting]
        records = [record for record in found if record is not None and record.key == key]
    else:
        log = await storage.backend.threads.read_log(key, uid, after_version=target.version - 1, limit=1, max_bytes=1)
        records = [record for entry in log for record in entry.approvals]
    if records:
        asked = map(view_approval, records)
        return tuple(_anew(storage, approval) for approval in asked if _is_there(approval, transcript))
    # Its line was copied, and what was asked there is the other thread's.
    ttl = program.approval_ttl_s
    until = None if ttl is None else storage.now_ms() + int(ttl * 1000)
    return tuple(replace(question, expires_at_ms=until) for question in program.questions(body.next, transcript))


def _is_there(asked: Approval, transcript: Transcript) -> bool:
    """Whether what was asked about still is: the message with the call may have been deleted. What a workflow asks is in no message, and its name has a `/`."""
    if asked.kind is ApprovalKind.PAUSE or "/" in asked.subject:
        return True
    return any(call.id == asked.subject for message in transcript.before(None) for call in message.tool_calls)


def _anew(storage: Storage, asked: Approval) -> Question:
    until = asked.expires_at_ms
    return Question(
        kind=asked.kind,
        subject=asked.subject,
        tool=asked.tool,
        arguments=asked.arguments_json,
        prompt=asked.prompt_json,
        schema=asked.schema_json,
        requested_by=asked.requested_by,
        expires_at_ms=None if until is None else storage.now_ms() + until - asked.created_at_ms,
    )
