"""Storage in one SQLite file that one process owns."""

from clew_storage.sqlite.backend import SqliteBackend

__all__ = ["SqliteBackend"]
