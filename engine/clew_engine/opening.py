"""`open_storage`: a database by its URL, for scripts that have no agent."""

from __future__ import annotations

from clew_engine.options import OnBusy, Tuning
from clew_engine.storage import Storage


def open_storage(
    url: str | None = None,
    *,
    on_busy: OnBusy | str = OnBusy.WAIT,
    busy_timeout: float = 60.0,
    tuning: Tuning | None = None,
    redis: object = None,
) -> Storage:
    """The Storage of a URL (None: the default SQLite file), which opens at its first use. Close it with `aclose`, or use it as an async context manager.

    `redis` as `Storage` takes it.

    Raises ArgumentInvalidError for a URL that names no storage.

    It owns a SQLite file from that use on: where a server owns the file, StorageUnavailableError names its pid, and its client has the same verbs.
    """
    return Storage(url, on_busy=on_busy, busy_timeout=busy_timeout, tuning=tuning, redis=redis)
