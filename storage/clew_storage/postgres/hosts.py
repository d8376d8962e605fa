"""The hosts of a database: which of them takes writes may change while a storage is open."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import asyncpg

from clew_storage.postgres.failures import DRIVER_ERRORS
from clew_storage.postgres.rows import Connection


class Hosts:
    """Connects to the host of a DSN that takes writes, and asks the one first that did so last.

    The driver knows DSNs with several hosts, but spends all its time on the first where that one is silent, as a machine
    is that lost its power.
    """

    def __init__(self, dsn: str | None) -> None:
        self._dsns = _one_by_one(dsn)
        self._options: dict[str, Any] = {}
        if len(self._dsns) > 1 and "target_session_attrs" not in dict(parse_qsl(urlsplit(dsn or "").query)):
            self._options["target_session_attrs"] = "read-write"

    async def connect(self, *_dsn: Any, **options: Any) -> Connection:
        """A connection with the options of `asyncpg.connect`; each host has its share of the `timeout`.

        Raises what the host said that was asked first.
        """
        options |= self._options | {"timeout": options["timeout"] / len(self._dsns)}
        errors: list[BaseException] = []
        for dsn in tuple(self._dsns):
            try:
                connection: Connection = await asyncpg.connect(dsn, **options)
            except DRIVER_ERRORS as error:
                errors.append(error)
            else:
                self._dsns.remove(dsn)
                self._dsns.insert(0, dsn)
                return connection
        raise errors[0]


def _one_by_one(dsn: str | None) -> list[str | None]:
    parts = urlsplit(dsn or "")
    login, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [dsn]
    return [urlunsplit(parts._replace(netloc=f"{login}{at}{host}")) for host in hosts.split(",")]
