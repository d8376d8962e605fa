"""Delete: the thread and everything in it, in one transaction, at once and for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.incarnations import deleted
from clew_engine.options import Mutation
from clew_engine.requests import RequestLog, again_if_recorded
from clew_storage import ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


async def delete(storage: Storage, key: ThreadKey, *, mutation: Mutation) -> bool:
    """True if the thread existed. A run of it loses its fence; its stream, its watchers and those who wait end with thread_not_found."""
    return await again_if_recorded(lambda: _delete(storage, key, mutation))


async def _delete(storage: Storage, key: ThreadKey, mutation: Mutation) -> bool:
    requests = RequestLog(storage, key, "delete", mutation)
    found = await requests.find_record()
    if found is not None:
        return True
    head = await storage.backend.threads.get_head(key)
    if head is None:
        # The same request, sent twice, may have done it since its record was looked for.
        return await requests.find_record() is not None
    thread = head.thread
    record = requests.record()
    if record is not None:
        record = replace(record, uid=thread.uid, version=thread.head_version)
    existed = await storage.backend.threads.delete_thread(
        key, request=record, now_ms=storage.now_ms(), expected_version=mutation.expected_version
    )
    storage.warm.drop(key)
    gone = deleted(key.thread_id, thread.uid)
    live = storage.live.get(key)
    if live is not None and live.thread.uid == thread.uid:
        live.abandon(gone)
    storage.hub.fail(key, thread.uid, gone)
    storage.approval_feed.forget(key, thread.info, head.pending)
    return existed
