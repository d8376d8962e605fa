"""Copy: a thread of its own from another's line, whole or up to a checkpoint. Source and copy share no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.commands.retry import Programs
from clew_engine.drafts import build
from clew_engine.errors import (
    ArgumentInvalidError,
    CheckpointNotFoundError,
    TargetExistsError,
    ThreadNotFoundError,
    expect_version,
)
from clew_engine.forks import fork_draft
from clew_engine.incarnations import not_repeated
from clew_engine.log_events import events_of, read_entry
from clew_engine.options import Mutation
from clew_engine.requests import RequestLog, again_if_recorded
from clew_engine.started_once import left_behind
from clew_storage import CheckpointRecord, Head, LogEntry, ThreadExists, ThreadKey, ThreadRecord, Write

if TYPE_CHECKING:
    from clew_engine.storage import Storage


async def copy(
    storage: Storage,
    source: ThreadKey,
    target: ThreadKey,
    checkpoint_id: str,
    programs: Programs,
    *,
    mutation: Mutation,
) -> ThreadRecord:
    """Make the target. A live source is copied as far as it is written; its copy is then a rewound run that retry continues."""
    if source == target:
        raise ArgumentInvalidError("target_thread_id", "a copy needs another id than its source")
    return await again_if_recorded(lambda: _copy(storage, source, target, checkpoint_id, programs, mutation))


async def _copy(
    storage: Storage,
    source: ThreadKey,
    target: ThreadKey,
    checkpoint_id: str,
    programs: Programs,
    mutation: Mutation,
) -> ThreadRecord:
    requests = RequestLog(storage, target, "copy", mutation)
    found = await requests.find()
    if found is not None:
        return await _made(storage, target, found[0])
    head = await storage.backend.threads.get_head(source)
    if head is None or head.checkpoint is None:
        raise ThreadNotFoundError(source.thread_id)
    expect_version(source.thread_id, mutation.expected_version, head.thread.head_version)
    base = await _base(storage, source, head, checkpoint_id)
    program = programs(head.thread.info.app) if head.thread.info.app else None
    draft = await fork_draft(storage, source, head.thread.uid, base, program, head.thread.head_version)
    behind = await left_behind(storage, head, base.version)
    draft = replace(draft, left_behind=behind)
    now, uid = storage.now_ms(), ids.new_uid()
    built = build(draft, target, uid, base, now, storage.tuning.message_limit)
    record = requests.record()
    write = Write(
        key=target,
        uid=uid,
        epoch=0,
        expected_version=base.version,
        checkpoint=built.checkpoint,
        approvals=built.approvals,
        request=replace(record, uid=uid, version=built.checkpoint.version) if record else None,
        fork_of=base.version,
    )
    thread = ThreadRecord(
        key=target,
        uid=uid,
        info=replace(head.thread.info, revision=1),
        head_version=0,
        head_status=None,
        epoch=0,
        created_at_ms=now,
        updated_at_ms=now,
    )
    try:
        written = await storage.backend.threads.copy_thread(source, head.thread.uid, thread, write)
    except ThreadExists:
        raise TargetExistsError(target.thread_id) from None
    entry = LogEntry(built.checkpoint, built.records, built.approvals)
    storage.hub.publish(target, events_of(target, uid, read_entry(entry)))
    storage.approval_feed.note(target, written.thread.info, write, ())
    return written.thread


async def _base(storage: Storage, source: ThreadKey, head: Head, checkpoint_id: str) -> CheckpointRecord:
    assert head.checkpoint is not None
    if not checkpoint_id:
        return head.checkpoint
    version = ids.checkpoint_version(head.thread.uid, checkpoint_id)
    found = None if version is None else await storage.backend.threads.get_checkpoint(source, version)
    if found is None:
        raise CheckpointNotFoundError(source.thread_id, checkpoint_id)
    return found


async def _made(storage: Storage, target: ThreadKey, uid: str) -> ThreadRecord:
    head = await storage.backend.threads.get_head(target)
    if head is None or head.thread.uid != uid:
        raise not_repeated(target.thread_id, uid, head)
    return head.thread
