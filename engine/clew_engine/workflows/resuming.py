"""How a run goes on from its snapshot: with an answer, with decisions, or by trying again what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine import commands
from clew_engine.approvals import Decision
from clew_engine.errors import ArgumentInvalidError, ResumeInvalidError
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_engine.streams import EventStream
from clew_engine.sweep import expire
from clew_engine.workflows.snapshots import Snapshot
from clew_storage import Status

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# The JSON of one pause's value, decisions on approvals by id or subject, or nothing.
Answer = str | Sequence[Decision] | None


def go_on(storage: Storage, program: Program, snapshot: Snapshot, answer: Answer, options: RunOptions) -> EventStream:
    """The attempt that continues a run, in a storage that the snapshot was restored to.

    Without an answer a failed run is tried again, and of a suspended one what has expired counts as rejected. Raises ArgumentInvalidError and
    ResumeInvalidError for an answer that the run does not wait for.
    """
    key = snapshot.key
    if snapshot.status is Status.FAILED:
        if answer is not None:
            raise ResumeInvalidError("the run failed and waits for no answer; resume its snapshot without one")
        return commands.retry(storage, key, lambda _: program, mutation=Mutation(), options=options)
    if answer is None:
        if all(each.expires_at_ms is None or each.expires_at_ms > storage.now_ms() for each in snapshot.approvals):
            raise ArgumentInvalidError(
                "value_json",
                "the run waits for an answer",
                approval_ids=",".join(each.id for each in snapshot.approvals),
            )
        return expire(storage, key, program, options)
    if isinstance(answer, str):
        return commands.resume(storage, key, lambda _: program, answer, mutation=Mutation(), options=options)
    decisions = [_addressed(snapshot, decision) for decision in answer]
    return commands.decide(storage, key, lambda _: program, decisions, mutation=Mutation(), options=options)


def _addressed(snapshot: Snapshot, decision: Decision) -> Decision:
    """A decision on what its subject names, where it names no id."""
    if any(asked.id == decision.approval_id for asked in snapshot.approvals):
        return decision
    found = [asked.id for asked in snapshot.approvals if asked.subject == decision.approval_id]
    return replace(decision, approval_id=found[0]) if len(found) == 1 else decision
