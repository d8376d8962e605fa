"""How a Postgres storage is reached, from a URL or given one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlunsplit

from clew_storage.errors import StorageRefused
from clew_storage.urls import parts_of

_NUMBERS = ("pool_size", "pool_timeout_s", "connect_timeout_s", "command_timeout_s", "lease_s", "poll_s", "patience_s")
# A day, or more connections than a database has.
_MOST = 86_400
LEAST_POOL = 3
_SWITCHES = ("pgbouncer", "migrate")
_TEXTS = ("schema", "listen_dsn")
# What may hold a password, and is not shown.
_SECRETS = {"password", "sslpassword", "listen_dsn"}


@dataclass(frozen=True, slots=True)
class PostgresSettings:
    """Where the database is, and the times and sizes that the storage keeps to; times in seconds.

    `pool_size` counts all connections: one writes, one keeps the leases, the others read. `pool_timeout_s`: how long a
    call waits for one. `patience_s`: how long a write whose answer was lost is looked for. `lease_s`: after that time a
    server that is gone loses its threads; `poll_s`: how often those who wait for a thread ask. `pgbouncer`: whether the
    URL leads to a pooler, so that nothing may be left on a connection; None finds out when it is opened. `migrate` False: the schema must be
    there already. `listen_dsn`: a direct way to the database, on which servers hear at once of what they would find out
    by asking. `connect_options` go to asyncpg as they are.
    """

    dsn: str | None = None
    schema: str = "clew"
    pool_size: int = 10
    pool_timeout_s: float = 10
    connect_timeout_s: float = 5
    command_timeout_s: float = 30
    lease_s: float = 15
    poll_s: float = 0.25
    patience_s: float = 10
    pgbouncer: bool | None = None
    migrate: bool = True
    listen_dsn: str | None = None
    connect_options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.pool_size < LEAST_POOL:
            raise StorageRefused(
                f"pool_size is {self.pool_size}; it takes {LEAST_POOL} at least: to write, to keep leases, to read"
            )
        for name in _NUMBERS:
            # Said so that nan, which is neither less nor more, is refused too.
            if not 0 < getattr(self, name) <= _MOST:
                raise StorageRefused(f"{name} must be greater than 0, and {_MOST:,} at most")

    @property
    def url(self) -> str:
        """Where the database is, as it may be shown."""
        return without_password(self.dsn or "postgresql://")


def settings_of_url(url: str) -> PostgresSettings:
    """The settings that a URL spells out; what is not ours in it (`sslmode`, …) stays in the DSN."""
    parts = parts_of(url, "the database")
    _check_ports(parts.netloc)
    given: dict[str, Any] = {}
    theirs: list[tuple[str, str]] = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in _TEXTS:
            given[name] = value
        elif name in _NUMBERS:
            given[name] = _number(url, name, value)
        elif name in _SWITCHES:
            given[name] = _switch(url, name, value)
        else:
            theirs.append((name, value))
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(theirs), ""))
    # Without a host the form keeps its two slashes only when it is spelt out.
    return PostgresSettings(dsn if parts.netloc else dsn.replace("postgresql:", "postgresql://", 1), **given)


def _check_ports(netloc: str) -> None:
    """Raises `StorageRefused`, which does not tell what stands there: it may be part of a password."""
    for host in netloc.rpartition("@")[2].split(","):
        _, colon, port = host.rpartition("]")[2].rpartition(":")
        if colon and not (port.isdecimal() and 0 < int(port) < 1 << 16):
            raise StorageRefused("in the URL of the database the port of a host is not a number from 1 to 65535")


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    parts = parts_of(url, "the database")
    query = urlencode(
        [(name, "***" if name in _SECRETS else value) for name, value in parse_qsl(parts.query)], safe="*"
    )
    netloc = parts.netloc
    if "@" in netloc:
        login, _, host = netloc.rpartition("@")
        user, colon, _ = login.partition(":")
        netloc = f"{user}:***@{host}" if colon else netloc
    shown = urlunsplit((parts.scheme, netloc, parts.path, query, ""))
    return shown if netloc else shown.replace(f"{parts.scheme}:", f"{parts.scheme}://", 1)


def _number(url: str, name: str, value: str) -> float | int:
    try:
        return int(value) if name == "pool_size" else float(value)
    except ValueError:
        raise StorageRefused(f"{without_password(url)}: {name} is a number, not {value!r}") from None


def _switch(url: str, name: str, value: str) -> bool:
    if value not in {"0", "1"}:
        raise StorageRefused(f"{without_password(url)}: {name} is one of 0, 1, not {value!r}")
    return value == "1"
