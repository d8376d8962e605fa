"""Update: a thread's name, metadata and user. It waits for no run and makes no version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.errors import AppMismatchError, ArgumentInvalidError, EtagConflictError, ThreadNotFoundError
from clew_engine.field_rules import MAX_NAME, MAX_USER_ID, check_metadata, check_text_size
from clew_engine.incarnations import not_repeated
from clew_engine.options import Mutation
from clew_engine.requests import RequestLog, again_if_recorded
from clew_storage import InfoChange, RevisionConflict, ThreadInfo, ThreadKey, ThreadMissing, ThreadRecord

if TYPE_CHECKING:
    from clew_engine.storage import Storage


@dataclass(frozen=True, slots=True)
class ThreadUpdate:
    """What is None stays. `etag` is the one that the caller read; `app` only serves a thread that is made."""

    name: str | None = None
    metadata: bytes | None = None
    user_id: str | None = None
    etag: str = ""
    allow_missing: bool = False
    app: str = ""


async def update(storage: Storage, key: ThreadKey, change: ThreadUpdate, *, mutation: Mutation) -> ThreadRecord:
    """Change a thread's info, or make the thread before its first send (`allow_missing`)."""
    _check(change)
    return await again_if_recorded(lambda: _update(storage, key, change, mutation))


async def _update(storage: Storage, key: ThreadKey, change: ThreadUpdate, mutation: Mutation) -> ThreadRecord:
    requests = RequestLog(storage, key, "update", mutation)
    found = await requests.find()
    head = await storage.backend.threads.get_head(key)
    if found is not None:
        if head is None or head.thread.uid != found[0]:
            raise not_repeated(key.thread_id, found[0], head)
        return head.thread
    if head is not None and head.thread.info.app and change.app not in ("", head.thread.info.app):
        raise AppMismatchError(key.thread_id, head.thread.info.app, change.app)
    new = _new_thread(storage, key, change)
    record = requests.record()
    if record is not None:
        record = replace(
            record, uid=head.thread.uid if head else new.uid, version=head.thread.head_version if head else 0
        )
    try:
        return await storage.backend.threads.change_info(
            key,
            InfoChange(change.name, change.metadata, change.user_id, revision_of(change.etag)),
            create=new if change.allow_missing else None,
            request=record,
            now_ms=storage.now_ms(),
        )
    except ThreadMissing:
        raise ThreadNotFoundError(key.thread_id) from None
    except RevisionConflict:
        raise EtagConflictError(key.thread_id, change.etag) from None


def etag_of(info: ThreadInfo) -> str:
    """What changes with every change of a thread's info."""
    return f'"{info.revision}"'


def revision_of(etag: str) -> int | None:
    """The revision that an etag names; None for an empty one."""
    if not etag:
        return None
    text = etag.strip('"')
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ArgumentInvalidError("etag", "take the etag that the thread was read with")
    return int(text)


def _check(change: ThreadUpdate) -> None:
    if change.name is not None:
        check_text_size(change.name, "name", MAX_NAME)
    if change.user_id is not None:
        check_text_size(change.user_id, "user_id", MAX_USER_ID)
    if change.metadata is not None:
        check_metadata(change.metadata)


def _new_thread(storage: Storage, key: ThreadKey, change: ThreadUpdate) -> ThreadRecord:
    now = storage.now_ms()
    info = ThreadInfo(change.app, change.user_id or "", change.name or "", change.metadata or b"{}")
    return ThreadRecord(
        key=key,
        uid=ids.new_uid(),
        info=info,
        head_version=0,
        head_status=None,
        epoch=0,
        created_at_ms=now,
        updated_at_ms=now,
    )
