"""A peer's program in a process of its own, which takes a round when it is told to."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.samples import Sample

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 300


class PeerFailedError(Exception):
    """The peer did not start or did not come to the end of a round; the text is the last that it said."""


class PeerProcess:
    """A started peer."""

    def __init__(self, process: Process, log: Path) -> None:
        self._process = process
        self._log = log

    async def ready(self) -> None:
        """Wait until it takes rounds."""
        await self._answer()

    async def round(self, name: str, threads: int, turns: int) -> Sample:
        """So many turns on each of so many new threads."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"name": name, "threads": threads, "turns": turns}).encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise self._failure() from error
        return Sample(**await self._answer())

    async def _answer(self) -> Any:
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(_PATIENCE_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise PeerFailedError(f"no answer within {_PATIENCE_S} s") from None
        if not line:
            raise self._failure()
        return json.loads(line)

    def _failure(self) -> PeerFailedError:
        said = self._log.read_text(encoding="utf-8").strip().splitlines()
        return PeerFailedError(said[-1] if said else "it ended without a word")


@asynccontextmanager
async def a_peer(program: str, python: str, url: str, log: Path) -> AsyncGenerator[PeerProcess, None]:
    """A peer's program on an empty database; its standard error goes to the log. It is ended at the end."""
    command = (python, "-m", f"bench.peers.{program}_turn", url)
    environment = os.environ | {"PYTHONPATH": str(_ROOT)}
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=errors, env=environment
        )
    peer = PeerProcess(process, log)
    try:
        await peer.ready()
        yield peer
    finally:
        await _end(process)


async def _end(process: Process) -> None:
    """The end of its input is the end of the program; one that does not heed that is killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(10):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
