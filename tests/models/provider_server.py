"""A provider on this machine: it answers HTTP with what a test laid out, and sees when a client leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Served:
    """One answer. `then` is what follows the frames: an orderly end, a cut connection, or nothing at all."""

    frames: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    then: str = "end"


@dataclass
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: Any


def refusal(status: int, body: Any, **headers: str) -> Served:
    """An answer in place of a stream."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Served([json.dumps(body).encode()], status, named, "application/json")


class ProviderServer:
    """Answers one request after another with what `will` laid out."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.sent_all = asyncio.Event()
        self.client_left = asyncio.Event()
        self._answers: list[Served] = []
        self.url = ""

    def will(self, *answers: Served) -> None:
        """What the next requests get."""
        self._answers.extend(answers)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[ProviderServer]:
        """Serve on a free port of the loopback interface."""
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                await self._serve(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                self.client_left.set()
            finally:
                connections.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in connections.copy():
                task.cancel()
            await asyncio.gather(*connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await _read(reader):
            self.received.append(request)
            answer = self._answers.pop(0) if self._answers else refusal(500, {"error": {"message": "not expected"}})
            _write_head(writer, answer)
            for frame in answer.frames:
                writer.write(b"%x\r\n%s\r\n" % (len(frame), frame))
                await writer.drain()
            self.sent_all.set()
            if answer.then == "hang":
                # An EOF is the only thing that can come from a client that waits for its answer.
                await reader.read(1)
                self.client_left.set()
                return
            if answer.then == "cut":
                writer.transport.abort()
                return
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        self.client_left.set()


def _write_head(writer: asyncio.StreamWriter, answer: Served) -> None:
    headers = {"content-type": answer.content_type, "transfer-encoding": "chunked"} | answer.headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {answer.status} Whatever\r\n{lines}\r\n".encode())


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(first.split()[1], headers, json.loads(body) if body else None)
