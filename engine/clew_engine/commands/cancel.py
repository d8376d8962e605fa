"""Cancel: a live run is stopped and saved; one that waits or was interrupted is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clew_engine.approvals import ApprovalKind
from clew_engine.calls import DECIDED, GIVEN
from clew_engine.cancel_targets import Target, target_of
from clew_engine.checkpoints import Checkpoint, Failure, view_checkpoint
from clew_engine.drafts import Draft
from clew_engine.errors import ThreadNotFoundError, expect_version
from clew_engine.lookout import remote_run
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.requests import RequestLog, again_if_recorded, unless_recorded
from clew_engine.rules import Command, Verdict
from clew_engine.stops import Attempt, asked_to_stop, attempt_at, end_of, given_up_after, last_of, leave_word
from clew_engine.verdicts import rule
from clew_storage import Head, RequestRecord, RequestRecorded, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.runs import Run
    from clew_engine.storage import Storage

_CANCELLED = Failure("cancelled", "the run was cancelled", retryable=True)


async def cancel(
    storage: Storage, key: ThreadKey, run_id: str = "", started_by: str = "", *, mutation: Mutation, options: RunOptions
) -> Checkpoint:
    """Stop the thread's run and answer with the checkpoint that it ended with, or with the head where there was nothing to stop.

    `run_id`, or `started_by` (the id of the request that began the attempt), names what is meant. A request that waits for its turn leaves the queue
    and is not run, also when it comes again. Raises RunNotFoundError where what is named is not the newest attempt, or has not come.
    """
    requests = RequestLog(storage, key, "cancel", mutation)
    return await again_if_recorded(
        lambda: unless_recorded(
            requests, lambda: _cancel_named(storage, key, run_id, started_by, requests, mutation, options)
        )
    )


async def _cancel_named(
    storage: Storage,
    key: ThreadKey,
    run_id: str,
    started_by: str,
    requests: RequestLog,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    found = await requests.find_record()
    if found is not None:
        attempt = asked_to_stop(found)
        if attempt is None:
            return await storage.written(key, (found.uid, found.version))
        return await _see_through(storage, key, attempt, None, options)
    await storage.expect(key, mutation.expected_version)
    target = await target_of(storage, key, run_id, started_by)
    head = await storage.backend.threads.get_head(key)
    if head is None or head.checkpoint is None:
        if target is None:
            why = f"request {started_by!r} was withdrawn and will not run; thread {key.thread_id!r} has no checkpoint to answer with"
            raise ThreadNotFoundError(key.thread_id, why)
        raise ThreadNotFoundError(key.thread_id)
    if target is None:
        return view_checkpoint(key.thread_id, head.thread.uid, head.checkpoint)
    target.check(key, head.thread.uid, head.checkpoint)
    expect_version(key.thread_id, mutation.expected_version, head.thread.head_version)
    return await _cancel(storage, key, target, head, requests, mutation, options)


async def _cancel(
    storage: Storage,
    key: ThreadKey,
    target: Target,
    head: Head,
    requests: RequestLog,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    live = storage.running(key, head)
    if live is not None and head.thread.head_status is Status.IN_PROGRESS:
        return await _stop(storage, live, head, requests, options)
    attempt = await remote_run(storage, key) if live is None else None
    if attempt is not None:
        worded = await leave_word(storage, key, attempt, requests.record())
        return await _see_through(storage, key, attempt, None if worded else requests.record(), options)
    async with storage.holding(key, options) as thread:
        found = await requests.find()
        if found is not None:
            raise RequestRecorded
        if live is None:
            thread.expect(mutation.expected_version)
            if thread.head is not None:
                target.check(key, thread.uid, thread.head)
        elif thread.run_id != live.thread.run_id:
            # Whoever waited for the thread went first; what was to be cancelled is over.
            return await storage.written(key, (live.thread.uid, live.thread.version))
        return await _give_up(thread, requests.record())


async def _stop(storage: Storage, live: Run, head: Head, requests: RequestLog, options: RunOptions) -> Checkpoint:
    """Stop a run of this process."""
    thread, record, attempt = live.thread, requests.record(), None
    # What is in the log of a run that has just begun is an attempt before it.
    if head.checkpoint is not None and 0 < live.began <= head.thread.head_version:
        attempt = attempt_at(head.thread.uid, head.checkpoint)
        if await leave_word(storage, thread.key, attempt, record):
            record = None
    live.stop("cancelled", _CANCELLED.message, request=record)
    await asyncio.shield(live.ended)
    if attempt is None:
        assert thread.head is not None
        attempt = attempt_at(thread.uid, thread.head, since=live.began)
    return await _see_through(storage, thread.key, attempt, record, options)


async def _see_through(
    storage: Storage, key: ThreadKey, attempt: Attempt, record: RequestRecord | None, options: RunOptions
) -> Checkpoint:
    """What an attempt came to that was asked to stop.

    One that died meanwhile is given up, and so is one that got as far as asking people what they may still refuse. `record`: that of the request,
    where it is not with the word that was left.
    """
    ended = await end_of(storage, key, attempt)
    if ended is not None:
        checkpoint = await storage.written(key, (attempt.uid, ended))
        if checkpoint.status is not Status.SUSPENDED:
            return checkpoint
        head = await storage.backend.threads.get_head(key)
        if head is not None and head.thread.head_version != ended:
            given_up = await given_up_after(storage, key, attempt, ended)
            return checkpoint if given_up is None else await storage.written(key, (attempt.uid, given_up))
        if head is not None and any(each.kind == ApprovalKind.TOOL_OUTCOME for each in head.pending):
            return checkpoint
    async with storage.holding(key, options) as thread:
        if thread.uid == attempt.uid and thread.head is not None and attempt.has(thread.head):
            return await _give_up(thread, record)
        # Whoever waited for the thread went first; what was to be cancelled is over.
        return await storage.written(key, (attempt.uid, await last_of(storage, key, attempt)))


async def _give_up(thread: OpenThread, record: RequestRecord | None) -> Checkpoint:
    """End a run that nobody has under way."""
    if rule(thread, Command.CANCEL) is Verdict.NO_CHANGE:
        return thread.view()
    draft = Draft(
        Source.FAILURE,
        Status.FAILED,
        next=_undecided(thread),
        void_approvals=True,
        failure=_CANCELLED,
        partial=thread.body.partial,
    )
    return await thread.commit(draft, record)


def _undecided(thread: OpenThread) -> Mapping[str, Any]:
    """What the run goes on with. Answers to questions that are void now, because not all were answered, are void with them."""
    continuation = thread.body.next
    if thread.status is not Status.SUSPENDED:
        return continuation
    return {name: value for name, value in continuation.items() if name not in (DECIDED, GIVEN)}
