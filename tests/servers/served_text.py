"""What `clew serve` serves where text across servers is watched: an agent that stops in the middle of its answer, until the test opens the gate."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

from clew_engine import Agent
from clew_engine.messages import TextPart, Usage
from clew_engine.models import ModelEvent, ModelRequest, ModelResponse, TextChunk
from tests.faults.plans import APP, GATE

BEGINNING = ("Zwölf ", "Boxkämpfer")
END = " jagen"


class HeldModel:
    """Says the beginning, waits, and says the end."""

    name = "held"

    async def stream(self, _: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One answer."""
        for text in BEGINNING:
            yield TextChunk(0, text)
        await asyncio.to_thread(Path(os.environ[GATE]).read_bytes)
        yield TextChunk(0, END)
        yield ModelResponse((TextPart("".join((*BEGINNING, END))),), Usage(1, 1), "stop", self.name)


agent = Agent(APP, model=HeldModel())
