"""The bytes of an archive in a file of its own: plain, or compressed where its name ends with `.gz`."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

# Enough for text, at a third of the time that the default takes.
_LEVEL = 6


def open_archive(path: Path) -> BinaryIO:
    """To read it. Raises `OSError`."""
    return cast("BinaryIO", gzip.open(path, "rb")) if _is_compressed(path) else path.open("rb")


def lock_alone(handle: int) -> bool:
    """Lock an open file for whoever writes it, until it is closed. Raises `BlockingIOError` where another one does.

    False on a file system without locks: there it is written all the same.
    """
    if sys.platform == "win32":
        return False
    import fcntl  # noqa: PLC0415 - there is none on Windows

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


class OutputFile:
    """A new file that only its owner may read, locked until it is closed; then what was written is on the disk.

    Raises `OSError`, `FileExistsError` among them.
    """

    def __init__(self, path: Path, handle: int | None = None) -> None:
        self.path = path
        made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600) if handle is None else handle
        self._raw = os.fdopen(made, "wb")
        try:
            lock_alone(made)
        except OSError:
            self._raw.close()
            raise
        # No name and no time, so that the same threads make the same file.
        self._stream = (
            gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=self._raw, mtime=0)
            if _is_compressed(path)
            else self._raw
        )

    @classmethod
    def beside(cls, path: Path) -> OutputFile:
        """A file in the same folder under a name that no file has, to take the place of `path` with `rename`."""
        suffix = ".gz" if _is_compressed(path) else ""
        handle, name = tempfile.mkstemp(prefix=_work_prefix(path), suffix=suffix, dir=path.parent)
        return cls(Path(name), handle)

    def write(self, data: bytes) -> None:
        """Add to it."""
        self._stream.write(data)

    def rename(self, path: Path) -> None:
        """Take the place of another file, with what was written so far."""
        self._stream.flush()
        os.fsync(self._raw.fileno())
        self.path.replace(path)
        self.path = path

    def close(self) -> None:
        """End it, and make it durable with its name. Harmless when called twice."""
        if self._raw.closed:
            return
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.flush()
        os.fsync(self._raw.fileno())
        self._raw.close()
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def remove_left(path: Path) -> None:
    """Remove what exports that were killed have left beside an archive. One that is alive holds the lock of its file, which stays."""
    # As mkstemp names it. Nobody gives such a name to a file of their own.
    work = re.compile(rf"{_work_prefix(path)}[a-z0-9_]{{8}}(\.gz)?")
    # What cannot be seen, or somebody else owns or took away, is no reason not to export.
    with suppress(OSError):
        for left in tuple(path.parent.iterdir()):
            if work.fullmatch(left.name):
                with suppress(OSError):
                    _remove_unlocked(left)


def _remove_unlocked(path: Path) -> None:
    with path.open("rb") as held:
        if lock_alone(held.fileno()) and os.path.samestat(os.fstat(held.fileno()), path.stat()):
            path.unlink()


def _work_prefix(path: Path) -> str:
    """By the archive's name, of which it has a fixed length, for there may be no room beside it."""
    return f"clew-export-{hashlib.sha256(path.name.encode(errors='surrogateescape')).hexdigest()[:16]}-"


def _is_compressed(path: Path) -> bool:
    return path.name.endswith(".gz")
