"""Hears at once that a thread was given to this server, over a direct way to the database. Who hears nothing asks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from clew_storage.postgres.failures import DRIVER_ERRORS
from clew_storage.postgres.hosts import Hosts

_CHANNEL = "clew"
_PAUSE_S = 1.0


class Hints:
    """Listens for as long as the storage is open; a pooler in transaction mode would drop what it listens for."""

    def __init__(self, dsn: str, server: str, heard: Callable[[], None], connect_timeout_s: float) -> None:
        self._hosts = Hosts(dsn)
        self._server = server
        self._heard = heard
        self._connect_timeout_s = connect_timeout_s
        self.listens = asyncio.Event()
        self._task = asyncio.create_task(self._listen_on(), name="clew-postgres-hints")

    async def close(self) -> None:
        """Listen no more."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _listen_on(self) -> None:
        while True:
            try:
                await self._listen()
            except DRIVER_ERRORS:
                await asyncio.sleep(_PAUSE_S)

    async def _listen(self) -> None:
        connection = await self._hosts.connect(timeout=self._connect_timeout_s)
        gone = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(_CHANNEL, self._hear)
            self.listens.set()
            # What was said before it listened is found out by asking.
            self._heard()
            await gone.wait()
        finally:
            self.listens.clear()
            connection.terminate()

    def _hear(self, _connection: object, _pid: int, _channel: str, server: object) -> None:
        if server == self._server:
            self._heard()
