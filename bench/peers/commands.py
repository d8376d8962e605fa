"""The side of a peer's program: it says that it is ready, then takes a round for each line of its standard input, until that ends."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import asdict

from bench.samples import Turn, sample


async def obey(turn: Turn) -> None:
    """A line is `{"name", "threads", "turns"}`, and its answer a sample. What libraries print goes to standard error."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        print(json.dumps("ready"), file=answers, flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            taken = await sample(turn, **json.loads(line))
            print(json.dumps(asdict(taken)), file=answers, flush=True)
