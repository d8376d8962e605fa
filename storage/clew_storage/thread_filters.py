"""The parts of a thread filter that look inside a value, decided in one place for every backend."""

from __future__ import annotations

import orjson

from clew_storage.records import ThreadFilter, ThreadRecord


def metadata_has(metadata: bytes, key: str, value: str) -> bool:
    """Whether the metadata has this text under this top-level key."""
    try:
        found = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return False
    return isinstance(found, dict) and found.get(key) == value


def text_found(text: str, thread_id: str, name: str) -> bool:
    """Whether the text is a part of the id or the name, without regard to case."""
    folded = text.casefold()
    return folded in thread_id.casefold() or folded in name.casefold()


def matches(thread: ThreadRecord, where: ThreadFilter) -> bool:
    """Whether the thread passes the whole filter."""
    info = thread.info
    return (
        where.user_id in {None, info.user_id}
        and where.app in {None, info.app}
        and where.status in {None, thread.head_status}
        and (where.metadata is None or metadata_has(info.metadata, *where.metadata))
        and (where.text is None or text_found(where.text, thread.key.thread_id, info.name))
    )
