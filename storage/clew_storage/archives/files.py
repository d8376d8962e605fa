"""The bytes of an archive in a file of its own: plain, or compressed where its name ends with `.gz`."""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, cast

# Enough for text, at a third of the time that the default takes.
_LEVEL = 6


def open_archive(path: Path) -> BinaryIO:
    """To read it. Raises `OSError`."""
    return cast("BinaryIO", gzip.open(path, "rb")) if _is_compressed(path) else path.open("rb")


def lock_alone(handle: int) -> None:
    """Lock an open file for whoever writes it, until it is closed. Raises `BlockingIOError` where another one does.

    A file system without locks gives none, and is written all the same.
    """
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415 - there is none on Windows

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return


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
        handle, name = tempfile.mkstemp(prefix="clew-export-", suffix=suffix, dir=path.parent)
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


def _is_compressed(path: Path) -> bool:
    return path.name.endswith(".gz")
