"""DBOS: a workflow of four steps a turn. It knows no conversations, so what was said before costs it nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from importlib import import_module

from bench.peers.commands import obey
from bench.text import ANSWER, ARGS, PLAN, QUESTION, RESULT

if sqlite3.sqlite_version_info < (3, 42):
    # DBOS asks SQLite for milliseconds, which that of this Python does not know. The one from the wheel is as durable.
    sys.modules["sqlite3"] = import_module("pysqlite3")
    sys.modules["sqlite3.dbapi2"] = import_module("pysqlite3.dbapi2")

from dbos import DBOS


async def _plan(text: str) -> tuple[str, list[str]]:
    return PLAN, [ARGS, ARGS]


async def _look_up(args: str) -> str:
    return RESULT


async def _check(args: str) -> str:
    return RESULT


async def _answer(results: list[str]) -> str:
    return ANSWER


# Called rather than written above: their types are not known here.
plan, look_up, check, answer = (DBOS.step()(each) for each in (_plan, _look_up, _check, _answer))


async def _turn(text: str) -> str:
    _, (first, second) = await plan(text)
    results = await asyncio.gather(look_up(first), check(second))
    said: str = await answer(list(results))
    return said


workflow = DBOS.workflow()(_turn)


async def main(url: str) -> None:
    """Serve rounds on this database."""
    place = url.replace("sqlite://", "sqlite:///", 1)
    DBOS(config={"name": "bench", "system_database_url": place, "log_level": "ERROR"})
    DBOS.launch()

    async def turn(_: str) -> None:
        assert await workflow(QUESTION) == ANSWER

    try:
        await obey(turn)
    finally:
        DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
