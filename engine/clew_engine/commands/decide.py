"""Decide and resume: people's answers, all or none in one call; the run goes on when the last one is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clew_engine.answer_sizes import check_size
from clew_engine.approvals import (
    CHOICES,
    STATE_AFTER,
    Approval,
    ApprovalKind,
    Choice,
    Decision,
    encode_decision,
    late_of,
    unanswered,
    view_approval,
)
from clew_engine.attempts import Attempt, Opening
from clew_engine.commands.retry import Programs, program_of
from clew_engine.drafts import Draft
from clew_engine.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalExpiredError,
    ApprovalNotFoundError,
    ArgumentInvalidError,
    ResumeInvalidError,
    ThreadInterruptedError,
)
from clew_engine.field_rules import MAX_REASON
from clew_engine.json_text import JsonError, parse_strict, split_object
from clew_engine.lookout import is_alive
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_engine.rules import Command
from clew_engine.streams import EventStream
from clew_engine.verdicts import rule
from clew_storage import ApprovalDecision, ApprovalRecord, ApprovalState, Head, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


def decide(
    storage: Storage,
    key: ThreadKey,
    programs: Programs,
    decisions: Sequence[Decision],
    *,
    mutation: Mutation,
    options: RunOptions,
    verb: str = "decide",
) -> EventStream:
    """Answer approvals by their ids."""
    check_decisions(decisions)
    named = [decision.approval_id for decision in decisions]

    async def arrival(head: Head | None) -> None:
        """Say at once what waiting for a busy thread would not change; an interrupted run is told of under the lease."""
        if head is None or (head.thread.head_status is Status.IN_PROGRESS and not await is_alive(storage, key)):
            return
        for approval_id in named:
            found = await storage.backend.approvals.get_approval(key.tenant, approval_id)
            if found is not None and found.key == key and found.state is not ApprovalState.PENDING:
                refuse_decided(view_approval(found))

    async def settle_known(thread: OpenThread) -> None:
        await _refuse_known(storage, thread, named)

    def opening(thread: OpenThread) -> Opening:
        rule(thread, Command.DECIDE)
        answers = [(_pending(thread, decision.approval_id), decision) for decision in decisions]
        return answered(storage, thread, program_of(thread, programs), answers, options.actor)

    return Attempt(storage, key, verb, opening, mutation, options, arrival=arrival, look=settle_known).stream()


def resume(
    storage: Storage,
    key: ThreadKey,
    programs: Programs,
    value: str,
    *,
    mutation: Mutation,
    options: RunOptions,
) -> EventStream:
    """Answer the one pause that waits with a JSON value."""
    _check_json("value_json", value)

    def opening(thread: OpenThread) -> Opening:
        rule(thread, Command.DECIDE)
        pauses = [record for record in thread.pending if record.kind == ApprovalKind.PAUSE]
        if len(pauses) != 1 or len(thread.pending) != 1:
            waiting = ", ".join(f"{record.id} ({record.kind})" for record in thread.pending)
            raise ArgumentInvalidError(
                "value_json",
                f"resume answers exactly one pause, and these wait: {waiting}; decide them by their ids",
                approval_ids=",".join(record.id for record in thread.pending),
            )
        decision = Decision(pauses[0].id, Choice.VALUE, value=value)
        return answered(storage, thread, program_of(thread, programs), [(pauses[0], decision)], options.actor)

    return Attempt(storage, key, "resume", opening, mutation, options).stream()


def answered(
    storage: Storage,
    thread: OpenThread,
    program: Program,
    answers: Sequence[tuple[ApprovalRecord, Decision]],
    actor: str,
) -> Opening:
    """The write that records answers, and that what has expired counts as rejected: the run goes on, or waits for the rest."""
    now = storage.now_ms()
    seen: list[tuple[Approval, Decision]] = []
    for record, decision in answers:
        approval = view_approval(record)
        if decision.choice not in CHOICES[approval.kind]:
            allowed = ", ".join(CHOICES[approval.kind])
            raise ArgumentInvalidError(
                "decisions", f"approval {approval.id} is of kind {approval.kind}; it takes one of: {allowed}"
            )
        if late_of([record], now):
            raise ApprovalExpiredError(
                f"approval {record.id} expired and counts as rejected; the run goes on without it",
                approval_id=record.id,
            )
        check_size(approval, decision, program, storage.tuning)
        seen.append((approval, decision))
    late = late_of(thread.pending, now)
    seen += [(view_approval(record), unanswered(record)) for record in late]
    ended = [_ended(decision, actor, STATE_AFTER[decision.choice]) for _, decision in answers]
    ended += [_ended(unanswered(record), "", ApprovalState.EXPIRED) for record in late]
    upgraded, change = program.upgraded(thread.body.next, thread.state, thread.key.thread_id)
    continuation = program.decided(upgraded, seen)
    decided = {decision.approval_id for decision in ended}
    waiting = tuple(record.id for record in thread.pending if record.id not in decided)
    started = () if waiting else program.starting(continuation, thread.transcript, thread.state)
    draft = Draft(
        Source.DECISION,
        Status.SUSPENDED if waiting else Status.IN_PROGRESS,
        next=continuation,
        state=change,
        decisions=tuple(ended),
        waiting=waiting,
        started=tuple(started),
        new_attempt=True,
    )
    return Opening(draft, program)


def check_decisions(decisions: Sequence[Decision]) -> None:
    """Raises ArgumentInvalidError for an empty list, an approval named twice, or JSON that is none."""
    if not decisions:
        raise ArgumentInvalidError("decisions", "name at least one approval")
    seen: set[str] = set()
    for decision in decisions:
        if not decision.approval_id:
            raise ArgumentInvalidError("decisions.approval_id", "an approval id is needed")
        if decision.approval_id in seen:
            raise ArgumentInvalidError("decisions", f"approval {decision.approval_id} is decided twice in one call")
        seen.add(decision.approval_id)
        if decision.value is not None:
            _check_json("decisions.value_json", decision.value)
        elif decision.choice in (Choice.VALUE, Choice.RESULT):
            raise ArgumentInvalidError("decisions.value_json", "a JSON value is needed")
        if decision.arguments is not None:
            _check_object("decisions.approve.arguments_json", decision.arguments)
        if len(decision.reason.encode(errors="replace")) > MAX_REASON:
            raise ArgumentInvalidError("decisions.reason", f"at most {MAX_REASON} bytes")


def refuse_decided(approval: Approval) -> None:
    """Raises what an approval that is not pending any more means for a decision."""
    if approval.state is ApprovalState.EXPIRED:
        raise ApprovalExpiredError(f"approval {approval.id} expired and counts as rejected", approval_id=approval.id)
    if approval.state is ApprovalState.VOID:
        raise ResumeInvalidError(
            f"approval {approval.id} is void: its run was rewound, cancelled, or left for a newer turn",
            approval_id=approval.id,
        )
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    raise ApprovalAlreadyDecidedError(
        f"approval {approval.id} was {approval.state.value}{by} before; nothing changed",
        approval_id=approval.id,
        state=approval.state.value,
    )


async def _refuse_known(storage: Storage, thread: OpenThread, named: Sequence[str]) -> None:
    """Under the lease: a decided approval is said so; an interrupted run first of all asks for its retry."""
    if thread.status is Status.IN_PROGRESS:
        raise ThreadInterruptedError(thread.key.thread_id, thread.run_id)
    for approval_id in named:
        found = await storage.backend.approvals.get_approval(thread.key.tenant, approval_id)
        if found is not None and found.key == thread.key and found.state is not ApprovalState.PENDING:
            refuse_decided(view_approval(found))


def _pending(thread: OpenThread, approval_id: str) -> ApprovalRecord:
    for record in thread.pending:
        if record.id == approval_id:
            return record
    raise ApprovalNotFoundError(approval_id)


def _ended(decision: Decision, actor: str, state: ApprovalState) -> ApprovalDecision:
    return ApprovalDecision(decision.approval_id, state, encode_decision(decision, actor))


def _check_object(field: str, text: str) -> None:
    try:
        split_object(text)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None


def _check_json(field: str, text: str) -> None:
    try:
        parse_strict(text)
    except JsonError as error:
        raise ArgumentInvalidError(field, str(error)) from None
