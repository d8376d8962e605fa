"""What the measured server serves: `clew serve bench/served.py`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from bench.turn import bench_agent
from clew_engine import Agent, OfflineModel
from clew_engine.messages import TextPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk, after, otherwise

_TICKS = 100
_BLOCKS_S = 0.1
TICK_S = 0.003


class TickingModel:
    """Says the machine's monotonic time every 3 ms, so that whoever reads it knows how long it was under way."""

    name = "ticking"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Times in ns, each with a blank after it."""
        said = ""
        for _ in range(_TICKS):
            await asyncio.sleep(TICK_S)
            tick = f"{time.monotonic_ns()} "
            said += tick
            yield TextChunk(0, tick)
        yield ModelResponse((TextPart(said),), Usage(), "stop", self.name)


def block() -> str:
    """A plain function, which has a thread of its own to block in."""
    time.sleep(_BLOCKS_S)
    return "done"


bench = bench_agent()
blocking = Agent("blocking", model=OfflineModel([after("block").say("done"), otherwise.call("block")]), tools=[block])
ticking = Agent("ticking", model=TickingModel())
