"""An attempt that is asked to stop: word that is left for whoever runs it, and what it came to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from clew_storage import CheckpointRecord, RequestRecord, Source, Status, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE, _PAGE_BYTES = 200, 1 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a run that was under way at `seen`, a version of its own."""

    uid: str
    run_version: int
    attempt: int
    seen: int

    def has(self, record: CheckpointRecord) -> bool:
        """Whether it wrote the checkpoint."""
        return (record.run_version, record.attempt) == (self.run_version, self.attempt)


def attempt_at(uid: str, record: CheckpointRecord, *, since: int = 0) -> Attempt:
    """The attempt that wrote a checkpoint; `since` is its first version, where it is to be seen from there on."""
    return Attempt(uid, record.run_version, record.attempt, since - 1 if since else record.version)


def asked_to_stop(record: RequestRecord) -> Attempt | None:
    """The attempt that a recorded cancel was about; None for one that has its outcome with it."""
    if not record.reply:
        return None
    run_version, attempt = orjson.loads(record.reply)
    return Attempt(record.uid, run_version, attempt, record.version)


async def leave_word(storage: Storage, key: ThreadKey, attempt: Attempt, record: RequestRecord | None) -> bool:
    """Whether word was left, with the record of the request that asked; not where the attempt is over. Raises RequestRecorded."""
    if record is not None:
        reply = orjson.dumps([attempt.run_version, attempt.attempt])
        record = replace(record, uid=attempt.uid, version=attempt.seen, reply=reply)
    return await storage.backend.threads.request_cancel(
        key, attempt.uid, attempt.run_version, attempt.attempt, request=record
    )


async def end_of(storage: Storage, key: ThreadKey, attempt: Attempt) -> int | None:
    """Wait until the attempt is at its end: the version that it ended or waits with.

    None where it did not get there by itself: whoever ran it is gone, or the thread is.
    """
    threads, after = storage.backend.threads, attempt.seen
    while True:
        glance = (await threads.glance([key]))[key]
        if glance.uid != attempt.uid:
            return None
        if glance.head_version > after:
            for record in await _log_after(storage, key, attempt, after, _PAGE):
                after = record.version
                if not attempt.has(record):
                    return None
                if record.status is not Status.IN_PROGRESS:
                    return record.version
            continue
        if glance.holder is None:
            return None
        await asyncio.sleep(storage.tuning.look_s)


async def given_up_after(storage: Storage, key: ThreadKey, attempt: Attempt, version: int) -> int | None:
    """The version with which an attempt that waited at `version` was given up, if that came next."""
    for record in await _log_after(storage, key, attempt, version, 1):
        if record.source is Source.FAILURE and attempt.has(record):
            return record.version
    return None


async def last_of(storage: Storage, key: ThreadKey, attempt: Attempt) -> int:
    """The last version that the attempt wrote in a row."""
    last = attempt.seen
    while page := await _log_after(storage, key, attempt, last, _PAGE):
        for record in page:
            if not attempt.has(record):
                return last
            last = record.version
    return last


async def _log_after(
    storage: Storage, key: ThreadKey, attempt: Attempt, version: int, limit: int
) -> list[CheckpointRecord]:
    log = await storage.backend.threads.read_log(
        key, attempt.uid, after_version=version, limit=limit, max_bytes=_PAGE_BYTES
    )
    return [entry.checkpoint for entry in log]
