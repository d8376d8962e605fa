"""Heads, the log and thread infos in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from clew_storage.errors import CheckpointMissing, ThreadExists, ThreadMissing, VersionConflict
from clew_storage.lines import contains
from clew_storage.local_leases import LocalLeases
from clew_storage.memory.appends import append, put_write
from clew_storage.memory.tables import StoredThread, Tables, Tombstone
from clew_storage.records import (
    CheckpointRecord,
    Glance,
    Head,
    InfoChange,
    LogEntry,
    RequestRecord,
    Source,
    Status,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
    Write,
    Written,
)
from clew_storage.thread_filters import matches
from clew_storage.thread_records import after_change, after_write


class MemoryThreads:
    """Implements the port's `Threads`; `tables` raises when the backend is not open."""

    def __init__(self, tables: Callable[[], Tables], leases: LocalLeases) -> None:
        self._tables = tables
        self._leases = leases

    async def append(self, write: Write) -> Written:
        """See the port."""
        return append(self._tables(), write, admitted=self._leases.admits(write.key, write.epoch))

    async def get_head(self, key: ThreadKey) -> Head | None:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None:
            return None
        checkpoint = thread.checkpoints.get(thread.record.head_version)
        asked = checkpoint is not None and thread.cancel == (checkpoint.run_version, checkpoint.attempt)
        return Head(
            thread.record,
            checkpoint,
            thread.line,
            thread.pending(),
            cancel_requested=asked,
            oldest_version=thread.oldest,
        )

    async def glance(self, keys: Sequence[ThreadKey]) -> Mapping[ThreadKey, Glance]:
        """See the port."""
        return {key: await self._glance(key) for key in keys}

    async def _glance(self, key: ThreadKey) -> Glance:
        head, holder, waiting = await self.get_head(key), self._leases.holder(key), self._leases.queued(key)
        if head is None:
            return Glance(holder=holder, waiting=waiting)
        return Glance(
            head.thread.uid, head.thread.head_version, head.cancel_requested, holder, waiting, head.thread.epoch
        )

    async def request_cancel(
        self, key: ThreadKey, uid: str, run_version: int, attempt: int, *, request: RequestRecord | None = None
    ) -> bool:
        """See the port."""
        tables = self._tables()
        tables.refuse_recorded(key, request)
        thread = tables.incarnation(key, uid)
        head = thread.checkpoints.get(thread.record.head_version) if thread else None
        if thread is None or head is None or head.status is not Status.IN_PROGRESS:
            return False
        if (head.run_version, head.attempt) != (run_version, attempt):
            return False
        thread.cancel = (run_version, attempt)
        tables.record(key, request)
        return True

    async def get_checkpoint(self, key: ThreadKey, version: int) -> CheckpointRecord | None:
        """See the port."""
        thread = self._tables().threads.get(key)
        return thread.checkpoints.get(version) if thread else None

    async def list_checkpoints(
        self, key: ThreadKey, *, before_version: int | None, limit: int, at_version: int | None = None
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None or not (at_version is None or at_version in thread.checkpoints):
            return ()
        line = thread.line if at_version is None else thread.line_to(at_version)
        on_line = (
            version
            for first, last in reversed(line)
            for version in range(last, max(first, thread.oldest) - 1, -1)
            if before_version is None or version < before_version
        )
        return [thread.checkpoints[version] for version in islice(on_line, limit)]

    async def read_log(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
    ) -> Sequence[LogEntry]:
        """See the port."""
        thread = self._tables().incarnation(key, uid)
        if thread is None:
            raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
        entries: list[LogEntry] = []
        size = 0
        for version in range(after_version + 1, thread.record.head_version + 1):
            if version not in thread.checkpoints:
                continue
            messages = thread.messages.get(version, ())
            size += sum(len(message.body) for message in messages)
            if len(entries) == limit or (entries and size > max_bytes):
                break
            asked = tuple(asked for asked in thread.approvals.values() if asked.version == version)
            entries.append(LogEntry(thread.checkpoints[version], messages, asked))
        return entries

    async def list_starts(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int
    ) -> Sequence[CheckpointRecord]:
        """See the port."""
        thread = self._tables().incarnation(key, uid)
        if thread is None:
            raise ThreadMissing(f"there is no thread {key.thread_id} with that uid")
        told = (each for each in thread.checkpoints.values() if each.source in (Source.INTENT, Source.FORK))
        return list(islice((each for each in told if each.version > after_version), limit))

    async def get_state(self, key: ThreadKey, *, version: int | None) -> dict[str, bytes] | None:
        """See the port."""
        thread = self._tables().threads.get(key)
        if thread is None:
            return None
        at = thread.record.head_version if version is None else version
        return thread.state_at(at) if at in thread.checkpoints or version is None else None

    async def list_threads(
        self, tenant: str, where: ThreadFilter, *, by_update: bool, after: tuple[int, str] | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port."""

        def place(thread: ThreadRecord) -> tuple[int, str]:
            return (-(thread.updated_at_ms if by_update else thread.created_at_ms), thread.key.thread_id)

        records = (stored.record for key, stored in self._tables().threads.items() if key.tenant == tenant)
        found = sorted((record for record in records if matches(record, where)), key=place)
        if after is not None:
            found = [record for record in found if place(record) > (-after[0], after[1])]
        return found[:limit]

    async def list_interrupted(
        self, apps: Sequence[str], *, after: ThreadKey | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """See the port."""
        tables = self._tables()
        last = ("", "") if after is None else (after.tenant, after.thread_id)
        places = sorted((key.tenant, key.thread_id) for key in tables.in_progress)
        found = (tables.threads[ThreadKey(*place)].record for place in places if after is None or place > last)
        free = (each for each in found if each.info.app in apps and self._leases.holder(each.key) is None)
        return list(islice(free, limit))

    async def change_info(
        self,
        key: ThreadKey,
        change: InfoChange,
        *,
        create: ThreadRecord | None,
        request: RequestRecord | None,
        now_ms: int,
    ) -> ThreadRecord:
        """See the port."""
        tables = self._tables()
        tables.refuse_recorded(key, request)
        thread = tables.threads.get(key)
        record = after_change(thread.record if thread else None, change, create=create, now_ms=now_ms)
        if thread is None:
            thread = StoredThread(record)
            tables.add(thread)
        else:
            thread.record = record
        tables.record(key, request)
        return thread.record

    async def copy_thread(self, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write) -> Written:
        """See the port."""
        tables = self._tables()
        tables.refuse_recorded(target.key, write.request)
        origin = tables.incarnation(source, source_uid)
        if origin is None:
            raise ThreadMissing(f"there is no thread {source.thread_id} with that uid")
        if write.fork_of is None or write.fork_of not in origin.checkpoints:
            raise CheckpointMissing(f"there is no checkpoint {write.fork_of}")
        if target.key in tables.threads:
            raise ThreadExists(f"there is a thread {target.key.thread_id} already")
        made = _copy_line(origin, write.fork_of, replace(target, head_version=write.fork_of))
        made.record = after_write(made.record, write)
        tables.add(made)
        put_write(tables, made, write)
        return Written(made.record, cancel_requested=False)

    async def delete_thread(
        self, key: ThreadKey, *, request: RequestRecord | None, now_ms: int, expected_version: int | None = None
    ) -> bool:
        """See the port."""
        tables = self._tables()
        tables.refuse_recorded(key, request)
        thread = tables.threads.get(key)
        if thread is None:
            return False
        if expected_version is not None and expected_version != thread.record.head_version:
            raise VersionConflict(expected_version, thread.record.head_version)
        tables.bury(thread, Tombstone(self._leases.next_epoch(), now_ms))
        tables.record(key, request)
        self._leases.revoke(key)
        return True

    async def find_request(self, key: ThreadKey, request_hash: bytes) -> RequestRecord | None:
        """See the port."""
        return self._tables().requests.get((key, request_hash))

    async def forget_requests(self, *, before_ms: int) -> int:
        """See the port."""
        tables = self._tables()
        old = [place for place, request in tables.requests.items() if request.created_at_ms < before_ms]
        for place in old:
            del tables.requests[place]
        needed = {key for key, _ in tables.requests}
        tables.tombstones = {
            key: tombstone
            for key, tombstone in tables.tombstones.items()
            if key in needed or tombstone.deleted_at_ms >= before_ms
        }
        return len(old)


def _copy_line(origin: StoredThread, version: int, record: ThreadRecord) -> StoredThread:
    line = origin.line_to(version)
    made = StoredThread(record, line=line, oldest=origin.oldest)
    for at, messages in origin.messages.items():
        if at < origin.oldest:
            made.put_messages(at, messages)
    for at, checkpoint in origin.checkpoints.items():
        if contains(line, at):
            made.put_checkpoint(checkpoint, origin.messages.get(at, ()))
    made.changes = {at: change for at, change in origin.changes.items() if contains(line, at)}
    return made
