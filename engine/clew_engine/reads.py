"""Reads: threads, state, messages, checkpoints and approvals, page by page. None of them waits for a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.approvals import Approval, view_approval
from clew_engine.checkpoints import Checkpoint, view_checkpoint
from clew_engine.errors import (
    ApprovalNotFoundError,
    CheckpointNotFoundError,
    MessageNotFoundError,
    ThreadNotFoundError,
)
from clew_engine.log_events import view_message
from clew_engine.lookout import is_alive
from clew_engine.message_search import found_messages
from clew_engine.messages import Message
from clew_engine.paging import Page, page_size
from clew_storage import ApprovalState, CheckpointRecord, Head, Status, ThreadFilter, ThreadKey, ThreadRecord

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# A page stays well below what one gRPC message may hold.
PAGE_BYTES = 2 << 20


class RunState(StrEnum):
    """Whether a head that is in progress is being worked on; unspecified where that is not to be seen from here."""

    UNSPECIFIED = "unspecified"
    RUNNING = "running"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class ThreadView:
    """A thread as it stands. `run_state` is None when its head is not in progress."""

    record: ThreadRecord
    run_id: str
    attempt: int
    run_state: RunState | None
    pending: int


async def get_thread(storage: Storage, key: ThreadKey) -> ThreadView:
    """One thread. Raises ThreadNotFoundError."""
    head = await storage.backend.threads.get_head(key)
    if head is None:
        raise ThreadNotFoundError(key.thread_id)
    view = await _view(storage, head)
    if view.run_state is RunState.INTERRUPTED:
        # The run may have ended between the read of its head and the look for it.
        head = await storage.backend.threads.get_head(key) or head
        view = await _view(storage, head)
    return view


async def list_threads(
    storage: Storage, tenant: str, where: ThreadFilter, *, by_update: bool, size: int, token: str
) -> Page[ThreadView]:
    """Threads, newest first. A page holds at most 2 MiB of metadata beside its first thread."""
    limit = page_size(size, 20, 200)
    listing = ("threads", tenant, where, by_update)
    place = await storage.page_tokens.place(token, listing)
    after = (int(place[0]), str(place[1])) if place else None
    found = await storage.backend.threads.list_threads(tenant, where, by_update=by_update, after=after, limit=limit + 1)
    taken = _fitting([len(record.info.metadata) for record in found[:limit]])
    items = [await _listed(storage, record) for record in found[:taken]]
    if len(found) <= taken:
        return Page(items)
    last = found[taken - 1]
    moment = last.updated_at_ms if by_update else last.created_at_ms
    return Page(items, await storage.page_tokens.make(listing, (moment, last.key.thread_id)))


@dataclass(frozen=True, slots=True)
class StateRead:
    """Of which checkpoint a state is; version 0 and no id where nothing was written yet."""

    version: int = 0
    checkpoint_id: str = ""


async def get_state(
    storage: Storage, key: ThreadKey, checkpoint_id: str, *, allow_stale: bool = False
) -> tuple[dict[str, bytes], StateRead]:
    """The state at a checkpoint (empty: the head), and which that is. With `allow_stale` the head may be one of before, where Redis has its state."""
    if allow_stale and not checkpoint_id and storage.beside is not None:
        kept = await storage.beside.states.recall(key)
        if kept is not None:
            return kept.values, StateRead(kept.version, ids.checkpoint_id(kept.uid, kept.version))
    while True:
        head = await _head(storage, key)
        record = head.checkpoint
        if checkpoint_id:
            record = await _checkpoint(storage, head, checkpoint_id)
        version = record.version if record else None
        state = await storage.backend.threads.get_state(key, version=version)
        if state is not None:
            read = StateRead(record.version, ids.checkpoint_id(head.thread.uid, record.version)) if record else None
            return state, read or StateRead()
        # The thread was deleted (and perhaps made anew) between the two reads: look again.


async def list_checkpoints(storage: Storage, key: ThreadKey, *, size: int, token: str) -> Page[Checkpoint]:
    """The head's line, newest first, as it was at the version of the first page; a rewind between two pages changes nothing."""
    limit = page_size(size, 20, 200)
    head = await _head(storage, key)
    listing = ("checkpoints", key, head.thread.uid)
    place = await storage.page_tokens.place(token, listing)
    before = int(place[0]) if place else None
    version = int(place[1]) if place else head.thread.head_version
    await _expect_stored(storage, head, version)
    found = await storage.backend.threads.list_checkpoints(
        key, before_version=before, limit=limit + 1, at_version=version
    )
    taken = _fitting([len(record.body) for record in found[:limit]])
    items = [view_checkpoint(key.thread_id, head.thread.uid, record) for record in found[:taken]]
    following = await storage.page_tokens.make(listing, (items[-1].version, version)) if len(found) > taken else ""
    return Page(items, following, version)


async def get_checkpoint(storage: Storage, key: ThreadKey, checkpoint_id: str) -> tuple[Checkpoint, int]:
    """One checkpoint, on the line or off it, and the version that the thread was at."""
    head = await _head(storage, key)
    record = await _checkpoint(storage, head, checkpoint_id)
    return view_checkpoint(key.thread_id, head.thread.uid, record), head.thread.head_version


async def list_messages(
    storage: Storage, key: ThreadKey, *, newest_first: bool, size: int, token: str, search: str = ""
) -> Page[Message]:
    """The transcript at the version of the first page. A page holds at most 2 MiB beside its first message.

    With `search` only messages that have all its words; a page may have none of them, and not be the last.
    """
    limit = page_size(size, 50, 500)
    head = await _head(storage, key)
    listing = ("messages", key, head.thread.uid, newest_first, search)
    place = await storage.page_tokens.place(token, listing)
    version = int(place[1]) if place else head.thread.head_version
    if version == 0:
        return Page(())
    await _expect_stored(storage, head, version)
    after = int(place[0]) if place else None
    if search:
        items, last = await found_messages(
            storage,
            key,
            search,
            version=version,
            after=after,
            newest_first=newest_first,
            limit=limit,
            room=PAGE_BYTES,
        )
        return Page(items, "" if last is None else await storage.page_tokens.make(listing, (last, version)), version)
    found = await storage.backend.messages.list_messages(
        key, at_version=version, after_position=after, limit=limit + 1, newest_first=newest_first
    )
    taken = _fitting([len(record.body) for record in found[:limit]])
    items = [view_message(record) for record in found[:taken]]
    following = await storage.page_tokens.make(listing, (items[-1].position, version)) if len(found) > taken else ""
    return Page(items, following, version)


async def get_message(storage: Storage, key: ThreadKey, message_id: str) -> tuple[Message, int]:
    """One message of the head's line by its id, and the version that it was read at."""
    head = await _head(storage, key)
    record = await storage.backend.messages.get_message(key, message_id)
    if record is None:
        raise MessageNotFoundError(
            f"thread {key.thread_id!r} has no message {message_id!r} on its line; list its messages",
            thread_id=key.thread_id,
            message_id=message_id,
        )
    return view_message(record), head.thread.head_version


async def list_approvals(
    storage: Storage,
    tenant: str,
    *,
    thread_id: str,
    user_id: str,
    app: str,
    states: tuple[ApprovalState, ...],
    size: int,
    token: str,
) -> Page[Approval]:
    """Approvals across threads, oldest first; no states asks for those that wait. A page holds at most 2 MiB beside its first.

    Where a thread is named the page says its version, and ThreadNotFoundError is raised when it does not exist.
    """
    limit = page_size(size, 50, 200)
    states = states or (ApprovalState.PENDING,)
    listing = ("approvals", tenant, thread_id, user_id, app, *states)
    place = await storage.page_tokens.place(token, listing)
    key = ThreadKey(tenant, thread_id) if thread_id else None
    # Read before the approvals are: a decision that expects this version is refused if they changed meanwhile.
    version = (await _head(storage, key)).thread.head_version if key else 0
    found = await storage.backend.approvals.list_approvals(
        tenant,
        key=key,
        states=states,
        user_id=user_id or None,
        app=app or None,
        after=(int(place[0]), str(place[1])) if place else None,
        limit=limit + 1,
    )
    taken = _fitting([len(record.body) + len(record.decision or b"") for record in found[:limit]])
    items = [view_approval(record) for record in found[:taken]]
    if len(found) <= taken:
        return Page(items, "", version)
    return Page(items, await storage.page_tokens.make(listing, (items[-1].created_at_ms, items[-1].id)), version)


async def get_approval(storage: Storage, tenant: str, approval_id: str) -> tuple[Approval, int]:
    """An approval in whatever state, and its thread's version, which is read before the state. Raises ApprovalNotFoundError, also for a deleted thread's."""
    found = await storage.backend.approvals.get_approval(tenant, approval_id)
    head = await storage.backend.threads.get_head(found.key) if found else None
    if found and head and found.state is ApprovalState.PENDING:
        # It may have ended between the two reads; what has ended stays as it is.
        found = await storage.backend.approvals.get_approval(tenant, approval_id)
    if found is None or head is None or head.thread.uid != found.uid:
        raise ApprovalNotFoundError(approval_id)
    return view_approval(found), head.thread.head_version


def _fitting(sizes: Sequence[int]) -> int:
    """How many of the rows of these sizes make a page: as many as its bytes hold, and one at least."""
    taken, room = 0, PAGE_BYTES
    for size in sizes:
        if taken and size > room:
            break
        room -= size
        taken += 1
    return taken


async def _listed(storage: Storage, record: ThreadRecord) -> ThreadView:
    """A thread of a list; only one that is under way or waits needs its head."""
    if record.head_status in (Status.IN_PROGRESS, Status.SUSPENDED):
        try:
            return await get_thread(storage, record.key)
        except ThreadNotFoundError:
            # It was deleted since the list was read.
            pass
    return ThreadView(record=record, run_id="", attempt=0, run_state=None, pending=0)


async def _view(storage: Storage, head: Head) -> ThreadView:
    uid, record = head.thread.uid, head.checkpoint
    state: RunState | None = None
    if record is not None and record.status is Status.IN_PROGRESS:
        live = storage.running(head.thread.key, head)
        alive = live.thread.uid == uid if live else await is_alive(storage, head.thread.key)
        gone = RunState.INTERRUPTED if storage.backend.leases.sees_all() else RunState.UNSPECIFIED
        state = RunState.RUNNING if alive else gone
    return ThreadView(
        record=head.thread,
        run_id=ids.run_id(uid, record.run_version) if record else "",
        attempt=record.attempt if record else 0,
        run_state=state,
        pending=len(head.pending),
    )


async def _head(storage: Storage, key: ThreadKey) -> Head:
    head = await storage.backend.threads.get_head(key)
    if head is None:
        raise ThreadNotFoundError(key.thread_id)
    return head


async def _checkpoint(storage: Storage, head: Head, checkpoint_id: str) -> CheckpointRecord:
    key = head.thread.key
    version = ids.checkpoint_version(head.thread.uid, checkpoint_id)
    found = None if version is None else await storage.backend.threads.get_checkpoint(key, version)
    if found is None:
        raise CheckpointNotFoundError(key.thread_id, checkpoint_id)
    return found


async def _expect_stored(storage: Storage, head: Head, version: int) -> None:
    """Raises CheckpointNotFoundError where a listing goes on at a version that was trimmed since its first page."""
    key, uid = head.thread.key, head.thread.uid
    if version == head.thread.head_version or await storage.backend.threads.get_checkpoint(key, version) is not None:
        return
    raise CheckpointNotFoundError(
        key.thread_id,
        ids.checkpoint_id(uid, version),
        f"the pages are of version {version} of thread {key.thread_id!r}, which was trimmed since the first of them; list anew",
    )
