"""10xgraph: a model and a node for tools, on its SQLite checkpointer, or on the one for Postgres with a Redis beside it."""

from __future__ import annotations

import asyncio
import ctypes
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from tenxgraph.core.graph import StateGraph, ToolNode
from tenxgraph.core.state import Message, TextBlock, ToolCallBlock
from tenxgraph.storage.checkpointer import PgCheckpointer, SqliteCheckpointer
from tenxgraph.utils import END

from bench.peers.commands import obey
from bench.text import ANSWER, ARGS, PLAN, QUESTION, RESULT

_PR_SET_PDEATHSIG = 1


async def look_up(order: str) -> str:
    """Look an order up."""
    return RESULT


async def check(order: str) -> str:
    """Check an order."""
    return RESULT


async def model(state: Any) -> Any:
    """The plan and two calls to a message, the answer to their results."""
    if state.context[-1].role == "tool":
        return Message.text_message(ANSWER, role="assistant")
    calls = [(uuid4().hex, name) for name in ("look_up", "check")]
    return Message(
        role="assistant",
        content=[
            TextBlock(text=PLAN),
            *(ToolCallBlock(id=id_, name=name, args=json.loads(ARGS)) for id_, name in calls),
        ],
        tools_calls=[
            {"id": id_, "type": "function", "function": {"name": name, "arguments": ARGS}} for id_, name in calls
        ],
    )


def after_model(state: Any) -> str:
    """To the tools when there are calls."""
    return "TOOL" if state.context[-1].tools_calls else END


@asynccontextmanager
async def open_checkpointer(url: str) -> AsyncGenerator[Any, None]:
    """The checkpointer, as durable as the others: by default its SQLite file may lose what was acknowledged."""
    if url.startswith("sqlite://"):
        checkpointer = SqliteCheckpointer(url.removeprefix("sqlite://"))
        await checkpointer.asetup()
        await (await checkpointer._get_conn()).execute("PRAGMA synchronous = FULL")  # noqa: SLF001 - there is no other way
        yield checkpointer
        return
    with a_redis() as redis:
        checkpointer = PgCheckpointer(postgres_dsn=url, redis_url=redis, pool_config={"min_size": 1, "max_size": 10})
        await checkpointer.asetup()
        yield checkpointer


@contextmanager
def a_redis() -> Iterator[str]:
    """The URL of a Redis that keeps nothing on disk."""
    program = shutil.which("redis-server")
    if program is None:
        raise RuntimeError("on Postgres it needs a Redis, and there is no redis-server here")
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/redis"
        command = [program, "--port", "0", "--unixsocket", place, "--save", "", "--appendonly", "no", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=_die_with_parent)  # noqa: PLW1509 - this process has one thread
        try:
            while not Path(place).exists() and process.poll() is None:
                pass
            yield f"unix://{place}"
        finally:
            process.terminate()
            process.wait()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


async def main(url: str) -> None:
    """Serve rounds on this database."""
    graph = StateGraph()
    graph.add_node("MAIN", model)
    graph.add_node("TOOL", ToolNode([look_up, check]))
    graph.add_conditional_edges("MAIN", after_model, {"TOOL": "TOOL", END: END})
    graph.add_edge("TOOL", "MAIN")
    graph.set_entry_point("MAIN")
    async with open_checkpointer(url) as checkpointer:
        app = graph.compile(checkpointer=checkpointer)

        async def turn(thread: str) -> None:
            said = await app.ainvoke(
                {"messages": [Message.text_message(QUESTION)]}, {"thread_id": thread, "user_id": "u"}
            )
            assert said["messages"][-1].text() == ANSWER

        await obey(turn)
        await app.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
