"""What SQLite keeps beside a file: its log."""

from __future__ import annotations

from pathlib import Path

LOGS = ("-wal", "-journal")


def has_log(path: Path) -> bool:
    """Whether something is in a log that the file does not have yet, as while it is in use and after a crash."""
    return any(size_of(path.with_name(path.name + suffix)) for suffix in LOGS)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 for one that is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
