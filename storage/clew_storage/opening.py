"""Opens a backend by its URL: the only place that knows which there are, and imports one only when it is wanted."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from clew_storage.beside import Beside, RedisSettings
from clew_storage.errors import StorageRefused
from clew_storage.port import Backend

_SQLITE_OPTIONS = {"mode": ("ro", "rw"), "allow_network_fs": ("0", "1")}


def open_storage(url: str | None = None) -> Backend:
    """The backend for a URL, yet to be opened with `await backend.open()`.

    `memory://` · `sqlite://relative/path` · `sqlite:///absolute/path` · `sqlite://:memory:` · None: a file of the user's
    own, `clew/clew.db` in the platform's folder for data · `postgresql://user@host/database` (or `postgres://`), whose
    options are those of `PostgresSettings`, such as `?schema=name`. Options of a SQLite file: `?mode=ro` reads without owning it,
    `?mode=rw` makes no file where there is none, `?allow_network_fs=1` accepts a network file system, whose locks are then trusted. Raises `StorageRefused` for a URL
    that names no storage.
    """
    if url is None:
        return _open_default()
    scheme, separator, rest = url.partition("://")
    if not separator:
        # What was meant for a database may have a password in it.
        shown = re.sub(r":.*@", ":***@", url)
        raise StorageRefused(f"{shown!r} is not a storage URL; write sqlite://{shown} for a file, or memory://")
    if scheme == "memory":
        if rest:
            raise StorageRefused(f"memory:// takes no name or option, and got {rest!r}")
        from clew_storage.memory import MemoryBackend  # noqa: PLC0415

        return MemoryBackend()
    if scheme == "sqlite":
        return _open_sqlite(url, rest)
    if scheme in {"postgresql", "postgres"}:
        return _open_postgres(url)
    raise StorageRefused(f"no storage is known by {scheme}://; there are memory://, sqlite:// and postgresql://")


def for_reading(url: str | None = None) -> str:
    """The URL with which a storage is only read: a file beside the process that owns it, a schema of Postgres as it is there."""
    return _with_mode(url, "ro")


def for_existing(url: str | None = None) -> str:
    """The URL with which neither a file nor a schema is made where there is none, nor a schema migrated."""
    return _with_mode(url, "rw")


def _with_mode(url: str | None, mode: str) -> str:
    if url is None:
        url = f"sqlite://{default_path()}"
    scheme, _, rest = url.partition("://")
    name, _, query = rest.partition("?")
    if scheme in {"postgresql", "postgres"}:
        option, value = "migrate", "0"
    else:
        option, value = "mode", mode
    if scheme not in {"sqlite", "postgresql", "postgres"} or name == ":memory:" or option in dict(parse_qsl(query)):
        return url
    return f"{url}{'&' if query else '?'}{option}={value}"


def open_redis(given: object) -> Beside:
    """Redis, to be put around a backend and opened with it.

    Takes a URL, a `redis.asyncio.Redis`, a `redis.asyncio.ConnectionPool`, or `RedisSettings` of one of these. Raises `StorageRefused` for what is none
    of them; a Redis that cannot be reached is no reason.
    """
    try:
        from clew_storage.redis import RedisBeside  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "redis":
            raise
        raise StorageRefused("Redis needs the package redis: pip install 'clew-server[redis]'") from error
    return RedisBeside(given if isinstance(given, RedisSettings) else RedisSettings(given))


def default_path() -> Path:
    """Where the data of this user goes when no URL is given."""
    home = Path.home()
    if data_home := os.environ.get("XDG_DATA_HOME"):
        folder = Path(data_home)
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    else:
        folder = home / ".local" / "share"
    return folder / "clew" / "clew.db"


def _open_default() -> Backend:
    from clew_storage.sqlite import SqliteBackend  # noqa: PLC0415

    path = default_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageRefused(
            f"the default folder {path.parent} cannot be made ({error.strerror}); name a file: sqlite://PATH"
        ) from error
    return SqliteBackend(path, url=f"sqlite://{path}")


def _open_postgres(url: str) -> Backend:
    try:
        from clew_storage.postgres import PostgresBackend  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StorageRefused("Postgres needs the package asyncpg: pip install 'clew-server[postgres]'") from error
    return PostgresBackend.of_url(url)


def _open_sqlite(url: str, rest: str) -> Backend:
    from clew_storage.sqlite import SqliteBackend  # noqa: PLC0415

    name, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for option, value in options.items():
        allowed = _SQLITE_OPTIONS.get(option)
        if allowed is None:
            raise StorageRefused(f"{url} has an unknown option {option}; known are {', '.join(_SQLITE_OPTIONS)}")
        if value not in allowed:
            raise StorageRefused(f"{url}: {option} is one of {', '.join(allowed)}, not {value!r}")
    if not name:
        raise StorageRefused("sqlite:// names no file; write sqlite://PATH or sqlite://:memory:")
    mode = options.get("mode")
    if name == ":memory:":
        if mode == "ro":
            raise StorageRefused("sqlite://:memory: begins empty and cannot be read-only")
        return SqliteBackend(None, url=url)
    path = Path(unquote(name)).expanduser()
    return SqliteBackend(
        path,
        url=url,
        read_only=mode == "ro",
        may_make=mode is None,
        allow_network_fs=options.get("allow_network_fs") == "1",
    )
