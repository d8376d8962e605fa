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
from clew_engine.lookout import remote_run, stop_elsewhere
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.requests import RequestLog, unless_recorded
from clew_engine.rules import Command, Verdict
from clew_engine.verdicts import rule
from clew_storage import Head, Source, Status, ThreadKey

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
    return await unless_recorded(
        requests, lambda: _cancel_named(storage, key, run_id, started_by, requests, mutation, options)
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
    found = await requests.find()
    if found is not None:
        return await storage.written(key, found)
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
    live = storage.running(key)
    if live is not None and head.thread.head_status is Status.IN_PROGRESS:
        ended = await _stop(storage, live, requests)
        if ended is not None:
            return ended
    ended = await _stop_elsewhere(storage, key) if live is None else None
    if ended is not None:
        return ended
    async with storage.holding(key, options) as thread:
        found = await requests.find()
        if found is not None:
            return await storage.written(key, found)
        if live is None:
            thread.expect(mutation.expected_version)
            if thread.head is not None:
                target.check(key, thread.uid, thread.head)
        elif thread.run_id != live.thread.run_id:
            # Whoever waited for the thread went first; what was to be cancelled is over.
            return await storage.written(key, (live.thread.uid, live.thread.version))
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
        return await thread.commit(draft, requests.record())


async def _stop(storage: Storage, live: Run, requests: RequestLog) -> Checkpoint | None:
    """Where a live run ended; None where that is no end: its process died, or it got as far as asking people what they may still refuse."""
    thread = live.thread
    assert thread.head is not None
    await storage.backend.threads.request_cancel(thread.key, thread.uid, thread.head.run_version, thread.head.attempt)
    live.stop("cancelled", _CANCELLED.message, request=requests.record())
    await asyncio.shield(live.ended)
    head = await storage.backend.threads.get_head(thread.key)
    if head is not None and head.thread.uid == thread.uid and head.thread.head_version < thread.version:
        return None
    ended = await storage.written(thread.key, (thread.uid, thread.version))
    if ended.status is Status.IN_PROGRESS:
        return None
    if ended.status is Status.SUSPENDED and all(record.kind != ApprovalKind.TOOL_OUTCOME for record in thread.pending):
        return None
    return ended


async def _stop_elsewhere(storage: Storage, key: ThreadKey) -> Checkpoint | None:
    """As `_stop`, of a run that another server has under way."""
    run = await remote_run(storage, key)
    version = await stop_elsewhere(storage, key, run) if run else None
    if run is None or version is None:
        return None
    ended = await storage.written(key, (run.uid, version))
    head = await storage.backend.threads.get_head(key)
    asked = head.pending if head and head.thread.head_version == version else ()
    if ended.status is Status.SUSPENDED and all(record.kind != ApprovalKind.TOOL_OUTCOME for record in asked):
        return None
    return ended


def _undecided(thread: OpenThread) -> Mapping[str, Any]:
    """What the run goes on with. Answers to questions that are void now, because not all were answered, are void with them."""
    continuation = thread.body.next
    if thread.status is not Status.SUSPENDED:
        return continuation
    return {name: value for name, value in continuation.items() if name not in (DECIDED, GIVEN)}
