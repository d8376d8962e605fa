"""Import: threads with everything, from an archive into a database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clew_engine.archives import ArchiveFile, Imported, Progress, file_error
from clew_engine.errors import ThreadExistsError
from clew_engine.storage_errors import translated
from clew_storage import DataCorrupt, ThreadExists, ThreadMissing
from clew_storage.archives import ArchivedThread, ArchiveReader, open_archive
from clew_storage.thread_parts import is_same_thread

if TYPE_CHECKING:
    from clew_engine.storage import Storage

# Threads that are written at a time: they share commits.
_TOGETHER = 4


async def import_(storage: Storage, source: ArchiveFile, *, dry_run: bool, progress: Progress | None) -> Imported:
    """Make the archive's threads. A file is read to its end first, so that one that is damaged changes nothing; a stream is not."""
    if not isinstance(source, str | Path):
        async with storage.calling(None):
            return await _take_over(storage, source, "the archive", dry_run=dry_run, progress=progress)
    path = Path(source)
    try:
        # Before the database is opened, which makes one where there is none.
        await asyncio.to_thread(_verify, path)
        async with storage.calling(None):
            with closing(open_archive(path)) as stream:
                return await _take_over(storage, stream, str(path), dry_run=dry_run, progress=progress)
    except DataCorrupt as error:
        raise translated(error, None) from error
    except OSError as error:
        raise file_error(path, error) from error


def _verify(path: Path) -> None:
    with closing(open_archive(path)) as stream:
        for thread in ArchiveReader(stream, str(path)):
            with closing(thread):
                for _ in thread:
                    pass


async def _take_over(
    storage: Storage, stream: BinaryIO, name: str, *, dry_run: bool, progress: Progress | None
) -> Imported:
    reader = await asyncio.to_thread(ArchiveReader, stream, name)
    rest = iter(reader)
    imported = skipped = 0
    damage: DataCorrupt | None = None
    while damage is None:
        batch, damage = await asyncio.to_thread(_next_threads, rest)
        try:
            puts = (_put_thread(storage, thread, dry_run=dry_run) for thread in batch)
            # All of them end before any is let go.
            outcomes = await asyncio.gather(*puts, return_exceptions=True)
        finally:
            for thread in batch:
                thread.close()
        made = [_unless_failed(outcome) for outcome in outcomes]
        imported += sum(made)
        skipped += len(made) - sum(made)
        if progress is not None:
            progress(imported + skipped, reader.size)
        if len(batch) < _TOGETHER:
            break
    if damage is not None:
        raise damage
    return Imported(imported, skipped, reader.size, reader.sha256, dry_run)


def _unless_failed(outcome: bool | BaseException) -> bool:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _next_threads(rest: Iterator[ArchivedThread]) -> tuple[list[ArchivedThread], DataCorrupt | None]:
    """Whole threads, and the damage behind them where there is some."""
    batch: list[ArchivedThread] = []
    try:
        for thread in islice(rest, _TOGETHER):
            batch.append(thread)  # noqa: PERF402 - what was read before the damage counts
    except DataCorrupt as error:
        return batch, error
    return batch, None


async def _put_thread(storage: Storage, thread: ArchivedThread, *, dry_run: bool) -> bool:
    """True when it was made, False when it is here already as it is. Raises ThreadExistsError for another one under its id."""
    archive = storage.backend.archive
    try:
        if not dry_run:
            await archive.import_thread(thread)
            return True
        found = await storage.backend.threads.glance([thread.key])
        if not found[thread.key].uid:
            return True
    except ThreadExists:
        pass
    try:
        async with aclosing(archive.export_thread(thread.key)) as stored:
            if await is_same_thread(thread, stored):
                return False
    except ThreadMissing:
        pass  # It was deleted in this moment; whoever asks again may have it.
    raise ThreadExistsError(thread.key.thread_id)
