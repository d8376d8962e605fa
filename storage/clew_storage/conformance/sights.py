"""All that can be read of a thread through the port, to be compared with what another database shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from clew_storage.conformance.examples import a_request
from clew_storage.port import Backend
from clew_storage.records import LogEntry, ThreadKey


async def sights(backend: Backend, key: ThreadKey) -> dict[str, Any]:
    """What every read says: of the head, of each version on whatever line, of approvals and requests. Epochs are a database's own."""
    threads = backend.threads
    head = await threads.get_head(key)
    assert head is not None
    uid = head.thread.uid
    log = await threads.read_log(key, uid, after_version=0, limit=10_000, max_bytes=1 << 30)
    asked = await backend.approvals.list_approvals(key.tenant, key=key, limit=10_000)
    return {
        "head": replace(head, thread=replace(head.thread, epoch=0)),
        "log": log,
        "starts": await threads.list_starts(key, uid, after_version=0, limit=10_000),
        "approvals": asked,
        "each approval": [await backend.approvals.get_approval(key.tenant, one.id) for one in asked],
        "requests": [await threads.find_request(key, a_request(number).request_hash) for number in range(1, 7)],
        "state": list((await threads.get_state(key, version=None) or {}).items()),
        "messages": await _messages(backend, key, log),
        "versions": [await _version(backend, key, entry.checkpoint.version) for entry in log],
    }


async def _messages(backend: Backend, key: ThreadKey, log: Sequence[LogEntry]) -> Any:
    listed = await backend.messages.list_messages(key)
    ids = sorted({message.id for entry in log for message in entry.messages} | {message.id for message in listed})
    by_id = [await backend.messages.get_message(key, message_id) for message_id in ids]
    return listed, by_id, await backend.messages.known_ids(key, [*ids, "unknown"])


async def _version(backend: Backend, key: ThreadKey, version: int) -> Any:
    state = await backend.threads.get_state(key, version=version)
    return (
        await backend.threads.get_checkpoint(key, version),
        await backend.threads.list_checkpoints(key, before_version=None, limit=10_000, at_version=version),
        None if state is None else list(state.items()),
        await backend.messages.list_messages(key, at_version=version),
    )
