"""Goes on with an archive whose export was stopped."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from clew_storage.archives.files import OutputFile, lock_alone, open_archive, remove_left
from clew_storage.archives.readers import ArchiveCut, ArchiveReader
from clew_storage.archives.writers import ArchiveWriter, Selection
from clew_storage.errors import StorageRefused
from clew_storage.thread_parts import ThreadPart


@dataclass(frozen=True, slots=True)
class Resumed:
    """The file (None: it is whole, and nothing is to be written) with the threads that were in it, and the last of those."""

    file: OutputFile | None
    writer: ArchiveWriter
    last: ThreadPart | None


def resume(path: Path, selection: Selection) -> Resumed:
    """Keep the whole threads of a file that an export left unfinished, and go on behind them.

    All hashes are checked on the way. The file keeps its place until its new form, a file beside it, is on the disk. Raises
    `DataCorrupt` where a hash is wrong, `StorageRefused` for a selection other than the file's and for a file that another
    export writes, and `OSError`.
    """
    with _held(path):
        remove_left(path)
        file = OutputFile.beside(path)
        beside = file.path
        try:
            writer = ArchiveWriter(file, selection)
            last, whole = _copy_threads(path, writer, selection)
            if not whole:
                writer.flush()
                file.rename(path)
                return Resumed(file, writer, last)
        except BaseException:
            # On a full disk it cannot even be closed.
            try:
                file.close()
            finally:
                beside.unlink(missing_ok=True)
            raise
        file.close()
        beside.unlink()
        return Resumed(None, writer, last)


@contextmanager
def _held(path: Path) -> Generator[None, None, None]:
    """Nobody else writes the file meanwhile. What takes its place is locked already when it does."""
    with path.open("rb") as held:
        try:
            lock_alone(held.fileno())
            if not os.path.samestat(os.fstat(held.fileno()), path.stat()):
                raise BlockingIOError
        except BlockingIOError:
            raise StorageRefused(
                f"{path} is being written by another export; wait until that has ended, and ask again"
            ) from None
        yield


def _copy_threads(path: Path, writer: ArchiveWriter, selection: Selection) -> tuple[ThreadPart | None, bool]:
    """The last whole thread, and whether the archive has its end."""
    last: ThreadPart | None = None
    with closing(open_archive(path)) as stream:
        try:
            reader = ArchiveReader(stream, str(path))
            if reader.selection != selection:
                raise StorageRefused(
                    f"{path} was begun with the selection {reader.selection}, and not with {selection}; resume it with the same"
                )
            for thread in reader:
                with closing(thread):
                    for line in thread.lines():
                        writer.put_line(line)
                    writer.end_thread()
                    writer.flush()
                    last = thread.head
        except ArchiveCut:
            return last, False
    return last, True
