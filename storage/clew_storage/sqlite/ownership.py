"""The lock file beside the database: whoever holds its lock owns the database, and the system frees it when he dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from clew_storage.errors import StorageInUse, StorageRefused


class Ownership:
    """Holds the lock from `take` to `release`. The file itself stays: removing it would let two owners lock two files."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    @classmethod
    def take(cls, database: Path) -> Ownership:
        """Own the database. Raises `StorageInUse` when another process does, or another opener in this one."""
        path = _beside(database)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageRefused(f"{path} cannot be written ({error.strerror}); the folder must be writable") from error
        try:
            if not _lock(handle):
                raise StorageInUse(str(database), _owner(handle))
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        except OSError as error:
            os.close(handle)
            raise StorageRefused(f"{path} cannot be locked ({error.strerror})") from error
        except BaseException:
            os.close(handle)
            raise
        return cls(handle)

    @classmethod
    def refuse_if_held(cls, database: Path) -> None:
        """Raise `StorageInUse` when somebody owns the database. Makes no lock file where there is none."""
        try:
            handle = os.open(_beside(database), os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not _lock(handle):
                raise StorageInUse(str(database), _owner(handle))
        finally:
            os.close(handle)

    def release(self) -> None:
        """Give the database up."""
        os.close(self._handle)


def _beside(database: Path) -> Path:
    return database.with_name(database.name + ".lock")


def _owner(handle: int) -> int | None:
    text = os.pread(handle, 20, 0).strip()
    return int(text) if text.isdigit() else None


def _lock(handle: int) -> bool:
    if sys.platform == "win32":
        raise StorageRefused("a SQLite file needs POSIX file locks; use sqlite://:memory: or another storage")
    import fcntl  # noqa: PLC0415 - there is none on Windows

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
