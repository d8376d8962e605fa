"""A wire between a client and a server that the test can cut."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Proxy:
    """Passes bytes on, both ways, to HOST:PORT or unix:PATH; when it is `silent` the server is heard no more (`swallowed`: it has spoken), and a cut closes every connection."""

    def __init__(self, target: str) -> None:
        self._to = target
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self.silent = False
        self.swallowed = asyncio.Event()
        self.target = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.target = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self.cut()

    async def cut(self) -> None:
        """Close every connection, and pass bytes on again for those that come, also while these are closing."""
        closing = tuple(self._pumps)
        for writer in tuple(self._writers):
            writer.transport.abort()
        self.silent = False
        if closing:
            await asyncio.wait(closing)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to_there = await self._dial()
        except ConnectionError:
            writer.transport.abort()
            return
        for source, sink, from_server in ((reader, to_there, False), (there, writer, True)):
            self._writers.add(sink)
            pump = asyncio.create_task(self._pump(source, sink, from_server=from_server))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        kind, _, rest = self._to.rpartition(":")
        if kind == "unix":
            return await asyncio.open_unix_connection(rest)
        return await asyncio.open_connection(kind, int(rest))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, from_server: bool) -> None:
        with suppress(ConnectionError):
            while piece := await source.read(1 << 16):
                if from_server and self.silent:
                    self.swallowed.set()
                    continue
                sink.write(piece)
                await sink.drain()
        self._writers.discard(sink)
        sink.close()
        with suppress(ConnectionError):
            await sink.wait_closed()
