"""The wire that tests cut: what comes while others are cut is served."""

from __future__ import annotations

import asyncio

from tests.faults.proxies import Proxy


class SlowlyClosing(Proxy):
    """Connections that were cut take their time to end."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.end = asyncio.Event()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, from_server: bool) -> None:
        await super()._pump(source, sink, from_server=from_server)
        await self.end.wait()


async def test_a_connection_that_comes_while_others_are_cut_is_heard_and_not_waited_for() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(100):
            writer.write(piece)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, SlowlyClosing(f"127.0.0.1:{server.sockets[0].getsockname()[1]}") as proxy:
        where, port = proxy.target.split(":")
        before, to_before = await asyncio.open_connection(where, int(port))
        to_before.write(b"a")
        assert await before.read(1) == b"a"
        proxy.silent = True
        cutting = asyncio.create_task(proxy.cut())
        assert await before.read(1) == b""
        after, to_after = await asyncio.open_connection(where, int(port))
        to_after.write(b"b")
        assert await asyncio.wait_for(after.read(1), 5) == b"b"
        proxy.end.set()
        await asyncio.wait_for(cutting, 5)
        to_after.write(b"c")
        assert await after.read(1) == b"c"
        to_after.close()
        to_before.close()
