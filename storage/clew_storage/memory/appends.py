"""One append to a thread in memory: first every refusal, in the port's order, then the change."""

from __future__ import annotations

from msgspec.structs import replace

from clew_storage.errors import ApprovalNotPending, CheckpointMissing, LeaseLost, VersionConflict
from clew_storage.lines import extend
from clew_storage.memory.tables import StoredThread, Tables
from clew_storage.records import ApprovalRedaction, ApprovalState, CheckpointRedaction, Status, Write, Written
from clew_storage.state_changes import delta_of
from clew_storage.thread_records import after_write


def append(tables: Tables, write: Write, *, admitted: bool) -> Written:
    """Append one checkpoint; `admitted` says whether the write's epoch holds the lease."""
    thread = tables.threads.get(write.key)
    _refuse(tables, thread, write, admitted=admitted)
    if thread is None:
        thread = StoredThread(after_write(None, write))
        tables.add(thread)
    else:
        thread.record = after_write(thread.record, write)
    put_write(tables, thread, write)
    version, attempt = write.checkpoint.run_version, write.checkpoint.attempt
    return Written(thread.record, cancel_requested=thread.cancel == (version, attempt))


def _refuse(tables: Tables, thread: StoredThread | None, write: Write, *, admitted: bool) -> None:
    tables.refuse_recorded(write.key, write.request)
    if not admitted:
        raise LeaseLost("the lease that this write was made under is no longer held")
    if thread is None:
        if write.expected_version != 0:
            raise LeaseLost("the thread was deleted meanwhile")
    elif thread.record.uid != write.uid:
        raise LeaseLost("the thread was deleted and made anew meanwhile")
    elif thread.record.head_version != write.expected_version:
        raise VersionConflict(write.expected_version, thread.record.head_version)
    for decision in write.decisions:
        asked = thread.approvals.get(decision.approval_id) if thread else None
        if asked is None or asked.state is not ApprovalState.PENDING:
            raise ApprovalNotPending(decision.approval_id)
    if write.fork_of is not None and (thread is None or write.fork_of not in thread.checkpoints):
        raise CheckpointMissing(f"there is no checkpoint {write.fork_of}")


def put_write(tables: Tables, thread: StoredThread, write: Write) -> None:
    """Everything that a write brings, but for the thread's record."""
    checkpoint = write.checkpoint
    if write.erased:
        thread.erase(frozenset(write.erased))
    for redaction in write.redactions:
        if isinstance(redaction, CheckpointRedaction) and (told := thread.checkpoints.get(redaction.version)):
            thread.checkpoints[redaction.version] = replace(told, body=redaction.body)
    base = thread.line if write.fork_of is None else thread.line_to(write.fork_of)
    thread.line = extend(base, checkpoint.version)
    thread.put_checkpoint(checkpoint, write.messages)
    if write.state is not None:
        thread.changes[checkpoint.version] = delta_of(write.state)
    if thread.cancel != (checkpoint.run_version, checkpoint.attempt):
        thread.cancel = None
    _put_approvals(tables, thread, write)
    if checkpoint.status is Status.IN_PROGRESS:
        tables.in_progress.add(write.key)
    else:
        tables.in_progress.discard(write.key)
    tables.record(write.key, write.request)


def _put_approvals(tables: Tables, thread: StoredThread, write: Write) -> None:
    now_ms = write.checkpoint.created_at_ms
    for made in write.decisions:
        asked = thread.approvals[made.approval_id]
        thread.approvals[asked.id] = replace(asked, state=made.state, decided_at_ms=now_ms, decision=made.decision)
    for redaction in write.redactions:
        if isinstance(redaction, ApprovalRedaction) and (known := thread.approvals.get(redaction.approval_id)):
            thread.approvals[known.id] = replace(known, body=redaction.body, decision=redaction.decision)
    if write.void_approvals:
        for asked in thread.pending():
            thread.approvals[asked.id] = replace(asked, state=ApprovalState.VOID, decided_at_ms=now_ms)
    for asked in write.approvals:
        thread.approvals[asked.id] = asked
        tables.approval_threads[write.key.tenant, asked.id] = write.key
