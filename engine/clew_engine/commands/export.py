"""Export: threads with everything, from a database into an archive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from clew_engine.archives import ArchiveFile, Exported, Progress, Selection, file_error
from clew_engine.errors import ArgumentInvalidError, ThreadNotFoundError
from clew_storage import StorageRefused, ThreadKey, ThreadMissing
from clew_storage.archives import ArchiveWriter, CheckOrigin, OutputFile, Resumed, remove_left, resume
from clew_storage.thread_parts import ThreadPart

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 200
_PENDING_BYTES = 1 << 20


async def export(
    storage: Storage, target: ArchiveFile, selection: Selection, *, go_on: bool, progress: Progress | None
) -> Exported:
    """Write the threads to the target, each as it stands at one moment; with `go_on` behind those that are in the file."""
    async with storage.calling(None):
        await _expect_threads(storage, selection)
        if not isinstance(target, str | Path):
            if go_on:
                raise ArgumentInvalidError("resume", "what is no file of its own cannot be gone on with")
            return await _fill(storage, ArchiveWriter(target, selection.told()), selection, None, progress)
        path = Path(target)
        try:
            return await _to_file(storage, path, selection, go_on=go_on, progress=progress)
        except OSError as error:
            raise file_error(path, error) from error


async def _to_file(
    storage: Storage, path: Path, selection: Selection, *, go_on: bool, progress: Progress | None
) -> Exported:
    loop = asyncio.get_running_loop()

    def check_origin(uids: Mapping[ThreadKey, str]) -> None:
        """Asked in the thread that copies, in the middle of its work on the file; the database is asked here."""
        asyncio.run_coroutine_threadsafe(_expect_origin(storage, path, uids), loop).result()

    begun = await asyncio.to_thread(_begun, path, selection, check_origin if go_on else None)
    writer = begun.writer
    if begun.file is None:
        writer.end()
        return Exported(writer.threads, writer.threads, writer.size, writer.sha256)
    try:
        return await _fill(storage, writer, selection, begun.last, progress)
    finally:
        # What is there stays, for whoever goes on with it.
        await asyncio.to_thread(begun.file.close)


def _begun(path: Path, selection: Selection, check_origin: CheckOrigin | None) -> Resumed:
    """A new file, or, where it is to be gone on with (and can be checked), the one that is there, behind its last whole thread."""
    if check_origin is None or not path.exists():
        file = OutputFile(path)
        remove_left(path)
        return Resumed(file, ArchiveWriter(file, selection.told()), None)
    try:
        return resume(path, selection.told(), check_origin)
    except StorageRefused as error:
        raise ArgumentInvalidError("resume", str(error)) from error


async def _expect_origin(storage: Storage, path: Path, uids: Mapping[ThreadKey, str]) -> None:
    """Raises ArgumentInvalidError where none of the threads is here: then those that are would be put beside another database's."""
    here = await storage.backend.threads.glance(list(uids))
    if not any(here[key].uid == uid for key, uid in uids.items()):
        raise ArgumentInvalidError(
            "resume",
            f"{path} holds threads that this database does not have: it was begun from another one, or all of them were "
            "deleted since; name another file, or the database that it was begun from",
        )


async def _fill(
    storage: Storage, writer: ArchiveWriter, selection: Selection, last: ThreadPart | None, progress: Progress | None
) -> Exported:
    resumed = writer.threads
    async for key in _keys(storage, selection, last):
        try:
            await _put_thread(storage, writer, key)
        except ThreadMissing:
            continue  # It was deleted after it was listed.
        if progress is not None:
            progress(writer.threads, writer.size)
    writer.end()
    await asyncio.to_thread(writer.flush)
    return Exported(writer.threads, resumed, writer.size, writer.sha256)


async def _put_thread(storage: Storage, writer: ArchiveWriter, key: ThreadKey) -> None:
    async with aclosing(storage.backend.archive.export_thread(key)) as parts:
        async for part in parts:
            writer.put(part)
            if writer.pending >= _PENDING_BYTES:
                await asyncio.to_thread(writer.flush)
    writer.end_thread()


async def _expect_threads(storage: Storage, selection: Selection) -> None:
    """Raises ThreadNotFoundError for a thread that is named and not there, before anything is written."""
    missing = set(selection.threads)
    async for tenant in _tenants(storage, selection.tenant, None):
        found = await storage.backend.threads.glance([ThreadKey(tenant, each) for each in sorted(missing)])
        missing -= {key.thread_id for key, glance in found.items() if glance.uid}
        if not missing:
            return
    if missing:
        raise ThreadNotFoundError(min(missing))


async def _keys(storage: Storage, selection: Selection, last: ThreadPart | None) -> AsyncIterator[ThreadKey]:
    """Tenant by tenant, those that are named by their ids, others newest first, so that none that is made meanwhile moves the rest."""
    behind = None if last is None else last.record
    async for tenant in _tenants(storage, selection.tenant, None if behind is None else behind.key.tenant):
        here = behind if behind is not None and behind.key.tenant == tenant else None
        if selection.threads:
            for thread_id in selection.threads:
                if here is None or thread_id > here.key.thread_id:
                    yield ThreadKey(tenant, thread_id)
            continue
        after = None if here is None else (here.created_at_ms, here.key.thread_id)
        while page := await storage.backend.threads.list_threads(
            tenant, selection.where, by_update=False, after=after, limit=_PAGE
        ):
            for record in page:
                yield record.key
            after = (page[-1].created_at_ms, page[-1].key.thread_id)


async def _tenants(storage: Storage, only: str | None, since: str | None) -> AsyncIterator[str]:
    """The tenants with threads from `since` on, or the only one that is asked for."""
    if only is not None:
        yield only
        return
    if since is not None:
        yield since
    after = since
    while page := await storage.backend.archive.list_tenants(after=after, limit=_PAGE):
        for tenant in page:
            yield tenant
        after = page[-1]
