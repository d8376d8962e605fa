"""Rewind: an older checkpoint becomes the head again. Nothing is overwritten; what came after stays stored, off the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.checkpoints import Checkpoint
from clew_engine.commands.retry import Programs, program_of
from clew_engine.errors import CheckpointNotFoundError
from clew_engine.forks import fork_draft
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.requests import RequestLog, unless_recorded
from clew_engine.rules import Command
from clew_engine.verdicts import rule
from clew_storage import CheckpointRecord, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage


async def rewind(
    storage: Storage,
    key: ThreadKey,
    programs: Programs,
    checkpoint_id: str,
    *,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    """Write a head that copies the checkpoint; it begins a run of its own."""
    requests = RequestLog(storage, key, "rewind", mutation)
    return await unless_recorded(
        requests, lambda: _rewind(storage, key, programs, checkpoint_id, requests, mutation, options)
    )


async def _rewind(
    storage: Storage,
    key: ThreadKey,
    programs: Programs,
    checkpoint_id: str,
    requests: RequestLog,
    mutation: Mutation,
    options: RunOptions,
) -> Checkpoint:
    found = await requests.find()
    if found is not None:
        return await storage.written(key, found)
    await storage.expect(key, mutation.expected_version)
    async with storage.holding(key, options) as thread:
        found = await requests.find()
        if found is not None:
            return await storage.written(key, found)
        thread.expect(mutation.expected_version)
        target = await _target(storage, thread, checkpoint_id)
        program = program_of(thread, programs) if thread.info and thread.info.app else None
        draft = await fork_draft(storage, key, thread.uid, target, program, thread.version)
        storage.warm.drop(key)
        return await thread.commit(draft, requests.record())


async def _target(storage: Storage, thread: OpenThread, checkpoint_id: str) -> CheckpointRecord:
    rule(thread, Command.REWIND, checkpoint_id=checkpoint_id)
    version = ids.checkpoint_version(thread.uid, checkpoint_id)
    found = None if version is None else await storage.backend.threads.get_checkpoint(thread.key, version)
    if found is None:
        raise CheckpointNotFoundError(thread.key.thread_id, checkpoint_id)
    return found
