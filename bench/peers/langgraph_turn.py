"""LangGraph: a model and a node for tools over its list of messages, on its SQLite or Postgres saver, each checkpoint durable before the next step."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from bench.peers.commands import obey
from bench.text import ANSWER, ARGS, PLAN, QUESTION, RESULT


async def look_up(order: str) -> str:
    """Look an order up."""
    return RESULT


async def check(order: str) -> str:
    """Check an order."""
    return RESULT


async def model(state: dict[str, Any]) -> dict[str, Any]:
    """The plan and two calls to a message, the answer to their results."""
    if isinstance(state["messages"][-1], ToolMessage):
        return {"messages": [AIMessage(ANSWER)]}
    calls = [{"name": name, "args": json.loads(ARGS), "id": uuid4().hex} for name in ("look_up", "check")]
    return {"messages": [AIMessage(PLAN, tool_calls=calls)]}


def after_model(state: dict[str, Any]) -> Any:
    """Each call as a task of its own, as LangGraph's own agent does."""
    calls = state["messages"][-1].tool_calls
    return [Send("tools", [call]) for call in calls] or END


@asynccontextmanager
async def open_saver(url: str) -> AsyncGenerator[Any, None]:
    """The saver; on Postgres with as many connections as Clew has by default."""
    if url.startswith("sqlite://"):
        async with AsyncSqliteSaver.from_conn_string(url.removeprefix("sqlite://")) as saver:
            yield saver
        return
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, min_size=1, max_size=10, kwargs=options, open=False) as pool:
        yield AsyncPostgresSaver(pool)


async def main(url: str) -> None:
    """Serve rounds on this database."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([look_up, check]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", after_model, ["tools", END])
    graph.add_edge("tools", "model")
    async with open_saver(url) as saver:
        await saver.setup()
        app = graph.compile(checkpointer=saver)

        async def turn(thread: str) -> None:
            said = await app.ainvoke(
                {"messages": [HumanMessage(QUESTION)]}, {"configurable": {"thread_id": thread}}, durability="sync"
            )
            assert said["messages"][-1].content == ANSWER

        await obey(turn)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
