"""What format a file has, asked before the file is owned: whatever the answer, nothing is made or changed beside it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from clew_storage.errors import StorageRefused
from clew_storage.sqlite.failures import translate
from clew_storage.sqlite.logs import LOGS, has_log, size_of
from clew_storage.sqlite.migrations import APPLICATION_ID, known_migrations, refuse_newer, stored_format

_APPLICATION_ID = slice(68, 72)


def look_at_format(path: Path, *, read_only: bool) -> None:
    """Raise `StorageRefused` for a file whose format this program cannot use; leaves no trace.

    SQLite is told that the file is immutable: to read a file in WAL mode otherwise, it makes the log and its index where there are none. A log that
    a crash left is then not read. That misses a format only where it is in the log alone, which `check_format` sees once the file is owned.
    """
    if not size_of(path):
        return
    try:
        version = _read(path, "mode=ro&immutable=1")
        if not version and has_log(path):
            version = _read_copy(path)
    except sqlite3.Error as error:
        if has_log(path) and _is_marked(path):
            return  # Ours, and a crash left it amid a checkpoint: the log has the rest of it.
        raise StorageRefused(f"{path} cannot be opened: {translate(error)}") from error
    _judge(path, version, read_only=read_only)


def check_format(path: Path, *, read_only: bool) -> None:
    """The same for a file that this process owns, or that is read beside its owner: what is in the log counts too."""
    if not has_log(path):
        look_at_format(path, read_only=read_only)
        return
    try:
        version = _read(path, "mode=ro")
    except sqlite3.Error as error:
        raise StorageRefused(f"{path} cannot be opened: {translate(error)}") from error
    _judge(path, version, read_only=read_only)


def _judge(path: Path, version: int, *, read_only: bool) -> None:
    try:
        refuse_newer(version)
    except StorageRefused as error:
        raise StorageRefused(f"{path} cannot be opened: {error}") from None
    if read_only and version < known_migrations()[-1].version:
        raise StorageRefused(f"{path} has the older format {version}; open it once for writing to bring it up to date")


def _read(path: Path, how: str) -> int:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True)) as connection:
        try:
            return stored_format(connection)
        except StorageRefused as error:
            raise StorageRefused(f"{path} cannot be opened: {error}") from None


def _read_copy(path: Path) -> int:
    """The format of a file that is empty but for its log: small, since a log is written back before it is large."""
    with TemporaryDirectory(prefix="clew-") as folder:
        copy = Path(folder) / path.name
        for suffix in ("", *LOGS):
            # A log may go in this moment, when its owner closes the file.
            with suppress(FileNotFoundError):
                shutil.copyfile(path.with_name(path.name + suffix), copy.with_name(copy.name + suffix))
        try:
            return _read(copy, "mode=rw")
        except StorageRefused as error:
            raise StorageRefused(str(error).replace(str(copy), str(path))) from None


def _is_marked(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(100)[_APPLICATION_ID] == APPLICATION_ID.to_bytes(4, "big")
