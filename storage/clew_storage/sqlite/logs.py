"""What SQLite keeps beside a file while it is open, its log and the log's index, and how a file is read that has none."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from clew_storage.errors import StorageRefused, StorageUnavailable

LOGS = ("-wal", "-journal")
_INDEX = "-shm"


def has_log(path: Path) -> bool:
    """Whether something is in a log that the file does not have yet, as while it is in use and after a crash."""
    return any(size_of(path.with_name(path.name + suffix)) for suffix in LOGS)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 for one that is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def refuse_unreadable_log(path: Path) -> None:
    """Raise `StorageRefused` where the log cannot be read: without its index, which this user may not make."""
    if has_log(path) and not _index_of(path).exists() and not _may_make_beside(path):
        raise StorageRefused(
            f"{path} was left by a crash, and what is in its log ({path.name}-wal) is read only where its index can be made: "
            f"make the folder {path.parent} writable for this user, or read a copy of the file and its log elsewhere"
        )


def leave_nothing(path: Path) -> None:
    """Take away the empty log and the index that a reader made. The last connection to close does so, unless it may only read; so one more is closed."""
    if has_log(path):
        return
    # Where others have the file open they are not the last, and nothing happens.
    with suppress(sqlite3.Error), closing(_connect_for_writing(path)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_schema")


@dataclass(frozen=True, slots=True)
class StandingFile:
    """A file that is read without a log, as SQLite says *immutable*, because nothing can be made beside it."""

    path: Path
    stamp: tuple[int, int] | None

    @classmethod
    def of(cls, path: Path) -> StandingFile | None:
        """The file as it is now; None where it need not be read so, or may be in use."""
        return cls(path, _stamp(path)) if _is_at_rest(path) and not _may_make_beside(path) else None

    def check(self) -> None:
        """Raise `StorageUnavailable` for a file that stands still no more: SQLite would not see what changes in it."""
        if not _is_at_rest(self.path) or _stamp(self.path) != self.stamp:
            raise StorageUnavailable(f"another process has opened {self.path} since it was opened here; open it anew")


def _is_at_rest(path: Path) -> bool:
    """Whether nobody has the file open and all is in it: whoever opens it makes the index, and whoever writes fills the log."""
    return not has_log(path) and not _index_of(path).exists()


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes with every write to the file; None when it is gone."""
    with suppress(FileNotFoundError):
        found = path.stat()
        return found.st_size, found.st_mtime_ns
    return None


def _index_of(path: Path) -> Path:
    return path.with_name(path.name + _INDEX)


def _may_make_beside(path: Path) -> bool:
    return os.access(path.parent, os.W_OK | os.X_OK)


def _connect_for_writing(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=0)
