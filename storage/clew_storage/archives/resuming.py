"""Goes on with an archive whose export was stopped."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from clew_storage.archives.files import OutputFile, lock_alone, open_archive, remove_left
from clew_storage.archives.readers import ArchiveCut, ArchiveReader
from clew_storage.archives.writers import ArchiveWriter, Selection
from clew_storage.errors import StorageRefused
from clew_storage.records import ThreadKey
from clew_storage.thread_parts import ThreadPart

# So many of the first and of the last threads say whose archive it is: however long it is, few are remembered. Not the last
# alone, for an export begins with the newest, and retention takes the oldest.
_REMEMBERED = 50
# Told uids by thread; raises where the archive is not to be gone on with.
CheckOrigin = Callable[[Mapping[ThreadKey, str]], None]


@dataclass(frozen=True, slots=True)
class Resumed:
    """The file (None: it is whole, and nothing is to be written) with the threads that were in it, and the last of those."""

    file: OutputFile | None
    writer: ArchiveWriter
    last: ThreadPart | None


def resume(path: Path, selection: Selection, check_origin: CheckOrigin) -> Resumed:
    """Keep the whole threads of a file that an export left unfinished, and go on behind them.

    All hashes are checked on the way, and `check_origin` is asked about threads of a file that has any. The file keeps its
    place until its new form, a file beside it, is on the disk. Raises `DataCorrupt` where a hash is wrong, `StorageRefused` for
    a selection other than the file's and for a file that another export writes, what `check_origin` raises, and `OSError`.
    """
    with _held(path):
        remove_left(path)
        file = OutputFile.beside(path)
        beside = file.path
        try:
            writer = ArchiveWriter(file, selection)
            copied = _copy_threads(path, writer, selection)
            if copied.last is not None:
                check_origin(copied.uids)
            if not copied.whole:
                writer.flush()
                file.rename(path)
                return Resumed(file, writer, copied.last)
        except BaseException:
            # On a full disk it cannot even be closed.
            try:
                file.close()
            finally:
                beside.unlink(missing_ok=True)
            raise
        file.close()
        beside.unlink()
        return Resumed(None, writer, copied.last)


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


class _Copied:
    """What is known of the threads that were copied, and whether the archive has its end."""

    def __init__(self) -> None:
        self.whole = False
        self.last: ThreadPart | None = None
        self._first: list[ThreadPart] = []
        self._recent: deque[ThreadPart] = deque(maxlen=_REMEMBERED)

    @property
    def uids(self) -> dict[ThreadKey, str]:
        return {head.record.key: head.record.uid for head in (*self._first, *self._recent)}

    def add(self, head: ThreadPart) -> None:
        self.last = head
        (self._first if len(self._first) < _REMEMBERED else self._recent).append(head)


def _copy_threads(path: Path, writer: ArchiveWriter, selection: Selection) -> _Copied:
    copied = _Copied()
    with closing(open_archive(path)) as stream, suppress(ArchiveCut):
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
                copied.add(thread.head)
        copied.whole = True
    return copied
