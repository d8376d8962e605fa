"""Reads: connections of their own that see what is committed, so that a read never waits for a commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from clew_storage.sqlite.connections import Connection
from clew_storage.sqlite.failures import translate

T = TypeVar("T")


class Readers:
    """Gives each read to the connection with the fewest under way."""

    def __init__(self, *connections: Connection) -> None:
        self._busy = dict.fromkeys(connections, 0)

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query of any number of statements on one snapshot."""
        connection = min(self._busy, key=self._busy.__getitem__)
        self._busy[connection] += 1
        try:
            return await connection.run(lambda opened: _snapshot(opened, query))
        except sqlite3.Error as error:
            raise translate(error) from error
        finally:
            self._busy[connection] -= 1


def _snapshot(connection: sqlite3.Connection, query: Callable[[sqlite3.Connection], T]) -> T:
    connection.execute("BEGIN")
    try:
        return query(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
