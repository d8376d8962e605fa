"""Cancel: a live run is stopped and saved; one that waits or was interrupted is given up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.checkpoints import Checkpoint, Failure
from clew_engine.drafts import Draft
from clew_engine.errors import RunNotFoundError, ThreadNotFoundError
from clew_engine.options import Mutation, RunOptions
from clew_engine.requests import RequestLog
from clew_engine.rules import Command, Verdict
from clew_engine.verdicts import rule
from clew_storage import Head, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_CANCELLED = Failure("cancelled", "the run was cancelled", retryable=True)


async def cancel(
    storage: Storage, key: ThreadKey, run_id: str, *, mutation: Mutation, options: RunOptions
) -> Checkpoint:
    """Stop the thread's run and answer with the head that is left. With a run id that is not the head's: RunNotFoundError."""
    requests = RequestLog(storage, key, "cancel", mutation)
    found = await requests.find()
    if found is None:
        head = await storage.backend.threads.get_head(key)
        if head is None or head.checkpoint is None:
            raise ThreadNotFoundError(key.thread_id)
        _check_run(head, run_id)
        live = storage.live.get(key)
        if live is not None and head.thread.head_status is Status.IN_PROGRESS:
            await storage.backend.threads.request_cancel(
                key, head.thread.uid, head.checkpoint.run_version, head.checkpoint.attempt
            )
            live.stop("cancelled", "the run was cancelled")
            await asyncio.shield(live.ended)
    async with storage.holding(key, options) as thread:
        found = await requests.find()
        if found is not None:
            return await storage.written(key, found)
        thread.expect(mutation.expected_version)
        if rule(thread, Command.CANCEL) is Verdict.NO_CHANGE:
            return thread.view()
        draft = Draft(
            Source.FAILURE,
            Status.FAILED,
            next=thread.body.next,
            void_approvals=True,
            failure=_CANCELLED,
            partial=thread.body.partial,
        )
        return await thread.commit(draft, requests.record())


def _check_run(head: Head, run_id: str) -> None:
    assert head.checkpoint is not None
    if run_id and run_id != ids.run_id(head.thread.uid, head.checkpoint.run_version):
        raise RunNotFoundError(
            f"run {run_id!r} is not the newest one of thread {head.thread.key.thread_id!r}; nothing was cancelled",
            run_id=run_id,
        )
