"""A process under test: the engine on one SQLite file, told what to do in lines of JSON and answering in lines of JSON.

A call is `{"n": number, "verb": …, "thread": …, "args": […], "options": {…}}`; its answers carry the same number: `e` an event, `r` the reply
that ends it, `x` the code of a refusal. What stands in a line that was written is acknowledged.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import astuple
from typing import Any

from clew_engine import ClewError, Storage
from clew_engine.streams import EventStream
from tests.faults import broken, kill_points, plans
from tests.scenarios.in_process import InProcessThread, seen

URL = "CLEW_FAULTS_URL"
STREAMS = {
    "send": "stream",
    "decide": "stream_decide",
    "retry": "stream_retry",
    "watch": "watch",
}  # by the engine's names


class Worker:
    """Serves calls from standard input, many at once."""

    def __init__(self, storage: Storage) -> None:
        self._agent = plans.make_agent(storage)
        self._calls: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Until the input ends."""
        reader = asyncio.StreamReader(limit=1 << 24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        say({"n": 0, "r": os.getpid()})
        while line := await reader.readline():
            kill_points.arm()
            call = asyncio.create_task(self._serve(json.loads(line)))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)

    async def _serve(self, call: dict[str, Any]) -> None:
        number, verb = call["n"], call["verb"]
        thread = InProcessThread(self._agent.thread(call["thread"]))
        try:
            if verb == "steps":
                say({"n": number, "r": kill_points.steps()})
                return
            if verb in STREAMS:
                stream: EventStream = getattr(thread.inner, STREAMS[verb])(*call["args"], **call["options"])
                async for event in stream:
                    say({"n": number, "e": astuple(seen(event))})
                say({"n": number, "r": None})
                return
            reply = await getattr(thread, verb)(*call["args"], **call["options"])
            say({"n": number, "r": None if verb == "copy" else reply})
        except ClewError as error:
            say({"n": number, "x": error.code, "m": str(error)})
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must not wait for ever
            say({"n": number, "x": "unforeseen", "m": repr(error)})


def say(answer: dict[str, Any]) -> None:
    """Write a line in one go."""
    os.write(1, json.dumps(answer).encode() + b"\n")


async def main() -> None:
    """Serve the file that the environment names."""
    kill_points.install()
    broken.install()
    async with Storage(os.environ[URL], tuning=plans.TUNING) as storage:
        await Worker(storage).serve()


if __name__ == "__main__":
    asyncio.run(main())
