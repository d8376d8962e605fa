"""SQLite's errors in the port's words."""

from __future__ import annotations

import sqlite3

from clew_storage.errors import DataCorrupt, StorageError, StorageFull, StorageUnavailable

# Growing the index of the log is the one write whose lack of space SQLite reports as an I/O error.
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_full(error: sqlite3.Error) -> bool:
    """Whether space has run out."""
    return _code(error) in _FULL


def is_io_error(error: sqlite3.Error) -> bool:
    """Whether the disk failed: what was written before may not be there."""
    return _code(error) & 0xFF == sqlite3.SQLITE_IOERR and not is_full(error)


def translate(error: sqlite3.Error) -> StorageError:
    """The port's error for a driver's; the message names no path and no SQL."""
    code = _code(error)
    if is_full(error):
        return StorageFull("the disk is full; nothing was written")
    if code & 0xFF in _CORRUPT or isinstance(error, sqlite3.IntegrityError):
        return DataCorrupt(f"the database is damaged: {error}")
    if is_io_error(error):
        return StorageUnavailable("the disk reported an error; check it, then open the storage anew")
    return StorageUnavailable(f"the database does not answer: {error}")


def _code(error: sqlite3.Error) -> int:
    # Errors that the module raises itself carry no code.
    return getattr(error, "sqlite_errorcode", 0)
