"""A write from outside a run: it takes its turn as a run does, is judged by the table, and is one checkpoint that keeps how the thread stands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew_engine.checkpoints import Checkpoint
from clew_engine.drafts import Draft
from clew_engine.errors import AppMismatchError, AppNotFoundError, ThreadSuspendedError
from clew_engine.incarnations import Deleted
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_engine.requests import RequestLog, unless_recorded
from clew_storage import LeaseLost, Source, Status, ThreadInfo, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# The program of an app by its name; raises AppNotFoundError or AppMismatchError.
Programs = Callable[[str], Program]


@dataclass(frozen=True, slots=True)
class OutsideWrite:
    """What is to be written. `info` fills what the thread's has not; `reply` is kept for the same request when it comes again."""

    draft: Draft
    info: ThreadInfo | None = None
    reply: bytes = b""


# Judges the thread by the table and says what is to be written, or raises why nothing is.
Prepare = Callable[[OpenThread], Awaitable[OutsideWrite]]


async def write_from_outside(
    storage: Storage, key: ThreadKey, verb: str, prepare: Prepare, *, mutation: Mutation, options: RunOptions
) -> tuple[Checkpoint, bytes]:
    """The checkpoint that was written, and its reply; of a request that was recorded before, those of that time."""
    requests = RequestLog(storage, key, verb, mutation)
    return await unless_recorded(
        requests, lambda: _write_from_outside(storage, key, requests, prepare, mutation, options)
    )


async def _write_from_outside(
    storage: Storage, key: ThreadKey, requests: RequestLog, prepare: Prepare, mutation: Mutation, options: RunOptions
) -> tuple[Checkpoint, bytes]:
    found = await _again(storage, key, requests)
    if found is not None:
        return found
    await storage.expect(key, mutation.expected_version)
    try:
        return await _write(storage, key, requests, prepare, mutation, options)
    except ThreadSuspendedError:
        if not await storage.settle_expired(key):
            raise
        return await _write(storage, key, requests, prepare, mutation, options)
    except Deleted:
        raise
    except LeaseLost:
        # The thread was made since its head was read: by an update, which waits for no lease, or after a delete by whoever had it next.
        return await _write(storage, key, requests, prepare, mutation, options)


def update_draft(thread: OpenThread, **changes: Any) -> Draft:
    """A draft that keeps the head's status, its next step and what it waits for; the first of a thread is at rest."""
    head, body = thread.head, thread.body
    if head is None:
        return Draft(Source.UPDATE, Status.COMPLETED, step=0, new_run=True, **changes)
    kept: dict[str, Any] = {
        "next": body.next,
        "waiting": tuple(record.id for record in thread.pending),
        "failure": body.failure,
        "usage": body.usage,
        "partial": body.partial,
    }
    return Draft(Source.UPDATE, head.status, **(kept | changes))


def info_for(thread: OpenThread, app: str) -> ThreadInfo | None:
    """The info of a thread that a write makes for an app. Raises AppMismatchError for a thread of another one."""
    known = thread.info.app if thread.info else ""
    if app and known and app != known:
        raise AppMismatchError(thread.key.thread_id, known, app)
    return ThreadInfo(app=app) if thread.head is None else None


def known_program(programs: Programs, app: str) -> Program | None:
    """The program that a thread belongs to; None where it belongs to none, or to one that is not known here."""
    try:
        return programs(app) if app else None
    except AppNotFoundError:
        return None


async def _write(
    storage: Storage,
    key: ThreadKey,
    requests: RequestLog,
    prepare: Prepare,
    mutation: Mutation,
    options: RunOptions,
) -> tuple[Checkpoint, bytes]:
    async with storage.holding(key, options) as thread:
        found = await _again(storage, key, requests)
        if found is not None:
            return found
        thread.expect(mutation.expected_version)
        made = await prepare(thread)
        written = await thread.commit(made.draft, requests.record(made.reply), made.info)
        thread.keep()
        return written, made.reply


async def _again(storage: Storage, key: ThreadKey, requests: RequestLog) -> tuple[Checkpoint, bytes] | None:
    record = await requests.find_record()
    if record is None:
        return None
    return await storage.written(key, (record.uid, record.version)), record.reply
