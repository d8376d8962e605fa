"""Threads as a whole in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

from msgspec.structs import replace

from clew_storage.errors import ThreadExists, ThreadMissing
from clew_storage.local_leases import LocalLeases
from clew_storage.memory.tables import StoredThread, Tables
from clew_storage.records import ApprovalRecord, MessageRecord, RequestRecord, Status, ThreadKey
from clew_storage.thread_parts import CheckpointPart, Part, ThreadPart


class MemoryArchive:
    """Implements the port's `Archive`."""

    def __init__(self, tables: Callable[[], Tables], leases: LocalLeases) -> None:
        self._tables = tables
        self._leases = leases

    async def list_tenants(self, *, after: str | None, limit: int) -> Sequence[str]:
        """See the port."""
        tenants = {key.tenant for key in self._tables().threads if after is None or key.tenant > after}
        return sorted(tenants)[:limit]

    async def export_thread(self, key: ThreadKey) -> AsyncGenerator[Part, None]:
        """See the port."""
        # Records do not change, so that a list of them is a snapshot.
        for part in _parts(self._tables(), key):
            yield part

    async def import_thread(self, parts: Iterable[Part]) -> None:
        """See the port."""
        tables = self._tables()
        thread: StoredThread | None = None
        requests = []
        for part in parts:
            if isinstance(part, ThreadPart):
                if part.record.key in tables.threads:
                    raise ThreadExists(f"there is a thread {part.record.key.thread_id} already")
                record = replace(part.record, epoch=self._leases.next_epoch())
                thread = StoredThread(record, line=part.line, cancel=part.cancel, oldest=part.oldest)
                continue
            assert thread is not None
            if isinstance(part, RequestRecord):
                requests.append(part)
            elif isinstance(part, MessageRecord):
                # They come before every checkpoint, in the order of their versions.
                thread.put_messages(part.version, (part,))
            else:
                _put(thread, part)
        assert thread is not None
        key = thread.record.key
        tables.add(thread)
        if thread.record.head_status is Status.IN_PROGRESS:
            tables.in_progress.add(key)
        for asked in thread.approvals.values():
            tables.approval_threads[key.tenant, asked.id] = key
        for request in requests:
            if not tables.recorded(key, request):
                tables.record(key, request)


def _parts(tables: Tables, key: ThreadKey) -> list[Part]:
    thread = tables.threads.get(key)
    if thread is None:
        raise ThreadMissing(f"there is no thread {key.thread_id}")
    requests = [request for (owner, _), request in tables.requests.items() if owner == key]
    trimmed = [message for at, messages in thread.messages.items() if at < thread.oldest for message in messages]
    return [
        ThreadPart(replace(thread.record, epoch=0), thread.line, thread.cancel, thread.oldest),
        *sorted(trimmed, key=lambda message: (message.version, message.position)),
        *(
            CheckpointPart(checkpoint, thread.messages.get(version, ()), thread.changes.get(version))
            for version, checkpoint in thread.checkpoints.items()
        ),
        *thread.approvals.values(),
        *sorted(requests, key=lambda request: request.request_hash),
    ]


def _put(thread: StoredThread, part: CheckpointPart | ApprovalRecord) -> None:
    if isinstance(part, ApprovalRecord):
        thread.approvals[part.id] = part
        return
    thread.put_checkpoint(part.checkpoint, part.messages)
    if part.change is not None:
        thread.changes[part.checkpoint.version] = part.change
