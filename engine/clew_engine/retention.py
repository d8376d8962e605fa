"""Retention: which threads are deleted when nobody uses them any more, and how much of a thread's history is kept."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_engine.errors import ArgumentInvalidError
from clew_engine.incarnations import deleted
from clew_engine.trims import oldest_kept, trim
from clew_storage import IdleFilter, Status, ThreadMissing, ThreadRecord

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# What a thread may be deleted as. One that waits for a person is no one's to delete.
_STATUSES = {"completed": Status.COMPLETED, "failed": Status.FAILED, "interrupted": Status.IN_PROGRESS}
_NAMES = {status: name for name, status in _STATUSES.items()}
_PAGE = 200
# What one transaction deletes: so many threads, of so many versions together.
_BATCH, _BATCH_VERSIONS = 20, 2000
_LONGEST_PAUSE_S = 1.0
# A hundred years, and as many checkpoints as every storage can count.
MAX_AGE_S = 3_155_760_000
MAX_KEPT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Retention:
    """What may go of threads, and when. As it is made without arguments, nothing.

    `delete_after`: how many seconds after its last write or change a thread is deleted, by how it stands: `completed`, `failed`, `interrupted`; others stay.
    `keep_last`: how many checkpoints of a thread's line are kept, with all its messages; a step that is under way keeps what it needs beside them.
    `apps` and `users`: of these alone, of all where they are empty. Never touched are a thread that somebody uses, and one with a pending approval as far
    as that needs it. Raises ArgumentInvalidError.
    """

    delete_after: Mapping[str, float] = field(default_factory=dict)
    keep_last: int | None = None
    apps: Sequence[str] = ()
    users: Sequence[str] = ()

    def __post_init__(self) -> None:
        for status, seconds in self.delete_after.items():
            if status not in _STATUSES:
                raise ArgumentInvalidError("retention.delete_after", f"{status!r} is none of {', '.join(_STATUSES)}")
            if not _is_time(seconds):
                raise ArgumentInvalidError(
                    "retention.delete_after", f"0 to {MAX_AGE_S:,} seconds are due for {status!r}"
                )
        if self.keep_last is not None and not 1 <= self.keep_last <= MAX_KEPT:
            raise ArgumentInvalidError("retention.keep_last", f"1 (the head always stays) to {MAX_KEPT:,}")
        for name in ("apps", "users"):
            if isinstance(getattr(self, name), str):
                raise ArgumentInvalidError(f"retention.{name}", "a list of names is due here")
            if "" in getattr(self, name):
                raise ArgumentInvalidError(f"retention.{name}", "an empty name is nobody's; leave it out for all")

    def deletes(self, thread: ThreadRecord, now_ms: int) -> bool:
        """Whether an idle thread has been so for long enough to be deleted."""
        after = None if thread.head_status is None else self.delete_after.get(_NAMES.get(thread.head_status, ""))
        return after is not None and thread.updated_at_ms < now_ms - after * 1000


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_AGE_S


@dataclass(frozen=True, slots=True)
class Retired:
    """A thread that was deleted (`oldest_version` 0), or whose log now begins with `oldest_version`; or that would be.

    `status` is the head's, `interrupted` where its run's process died. `checkpoints`: how many of its line go.
    """

    tenant: str
    thread_id: str
    app: str
    user_id: str
    status: str
    updated_at_ms: int
    oldest_version: int
    checkpoints: int


async def retire(storage: Storage, retention: Retention, *, dry_run: bool = False) -> AsyncGenerator[Retired, None]:
    """Let go what may go, each as it went. With `dry_run` nothing does, and what is told is what would.

    Small transactions with pauses between them, each as long as what came before it, so that others are held up for a moment at most. Any number
    of sweeps may go on at a time, also on several servers: what one has deleted or trimmed no other tells of.
    """
    async with storage.calling(None):
        now_ms = storage.now_ms()
        async for batch in _to_delete(storage, retention, now_ms):
            began = time.monotonic()
            for record in batch if dry_run else await _delete(storage, batch, now_ms):
                yield _retired(record, 0, record.head_version)
            await _pause(began, dry_run=dry_run)
        async for record in _to_trim(storage, retention, now_ms):
            began = time.monotonic()
            retired = await _trim(storage, record, retention.keep_last or 1, dry_run=dry_run)
            if retired is not None:
                yield retired
                await _pause(began, dry_run=dry_run)


async def _to_delete(storage: Storage, retention: Retention, now_ms: int) -> AsyncIterator[list[ThreadRecord]]:
    """What is to be deleted, in batches of a transaction each."""
    statuses = {_STATUSES[name] for name in retention.delete_after}
    if not storage.backend.leases.sees_all():
        # Whether a run that is in progress is alive only the owner knows.
        statuses.discard(Status.IN_PROGRESS)
    if not statuses:
        return
    shortest = min(retention.delete_after.values())
    where = IdleFilter(
        statuses=tuple(sorted(statuses)),
        before_ms=math.ceil(now_ms - shortest * 1000),
        apps=tuple(retention.apps),
        user_ids=tuple(retention.users),
    )
    batch: list[ThreadRecord] = []
    async for record in _idle(storage, where):
        if not retention.deletes(record, now_ms):
            continue
        if batch and sum(each.head_version for each in batch) + record.head_version > _BATCH_VERSIONS:
            yield batch
            batch = []
        batch.append(record)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _to_trim(storage: Storage, retention: Retention, now_ms: int) -> AsyncIterator[ThreadRecord]:
    """What has more than is kept, and is not to be deleted as a whole."""
    if retention.keep_last is None:
        return
    where = IdleFilter(apps=tuple(retention.apps), user_ids=tuple(retention.users), longer_than=retention.keep_last)
    async for record in _idle(storage, where):
        if not retention.deletes(record, now_ms):
            yield record


async def _idle(storage: Storage, where: IdleFilter) -> AsyncIterator[ThreadRecord]:
    after = None
    while True:
        page = await storage.backend.retention.list_idle(where, after=after, limit=_PAGE)
        for record in page:
            yield record
        if len(page) < _PAGE:
            return
        after = page[-1].key


async def _delete(storage: Storage, batch: Sequence[ThreadRecord], now_ms: int) -> list[ThreadRecord]:
    """Delete those that are still as they were judged; which these were."""
    gone = set(await storage.backend.retention.delete_idle(batch, now_ms=now_ms))
    went = [record for record in batch if record.key in gone]
    for record in went:
        storage.warm.drop(record.key)
        storage.hub.fail(record.key, record.uid, deleted(record.key.thread_id, record.uid))
    return went


async def _trim(storage: Storage, record: ThreadRecord, keep_last: int, *, dry_run: bool) -> Retired | None:
    """Trim a thread that was found idle; None where nothing may go, or it is in use by now."""
    head = await storage.backend.threads.get_head(record.key)
    if head is None or head.thread.uid != record.uid:
        return None
    try:
        oldest, count = await oldest_kept(storage, head, keep_last)
        if not count or not (dry_run or await trim(storage, head, oldest)):
            return None
    except ThreadMissing:
        # It was deleted while it was looked at.
        return None
    return _retired(head.thread, oldest, count)


def _retired(record: ThreadRecord, oldest_version: int, checkpoints: int) -> Retired:
    status = record.head_status
    assert status is not None, "a thread without a checkpoint is not idle"
    return Retired(
        tenant=record.key.tenant,
        thread_id=record.key.thread_id,
        app=record.info.app,
        user_id=record.info.user_id,
        status=_NAMES.get(status, status.value),
        updated_at_ms=record.updated_at_ms,
        oldest_version=oldest_version,
        checkpoints=checkpoints,
    )


async def _pause(began: float, *, dry_run: bool) -> None:
    if not dry_run:
        await asyncio.sleep(min(time.monotonic() - began, _LONGEST_PAUSE_S))
