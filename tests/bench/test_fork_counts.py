"""A rewind and a copy up to a checkpoint read what they are about, however much came after it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from clew_engine import Agent, OfflineModel, Storage, tool
from clew_engine.models import after, otherwise, when
from clew_engine.threads import Thread
from clew_storage.sqlite.backend import SqliteBackend


@tool(once=True)
def charge(amount: int) -> str:
    """Charge an amount."""
    return f"charged {amount}"


async def count_rows(backend: SqliteBackend) -> list[int]:
    """A list whose one element grows with each row that is read."""
    rows = [0]

    def count(_: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        rows[0] += 1
        return row

    for connection in backend._opened().readers._busy:
        await connection.run(lambda opened: setattr(opened, "row_factory", count))
    return rows


@pytest.mark.parametrize("verb", ["copy", "rewind"])
async def test_what_came_after_the_checkpoint_is_not_read(tmp_path: Path, verb: str) -> None:
    read = {turns: await _rows_of(tmp_path / f"{turns}.db", turns, verb) for turns in (20, 120)}
    assert read[120] == read[20]
    assert read[20] > 3


async def _rows_of(database: Path, turns: int, verb: str) -> int:
    backend = SqliteBackend(database, url=f"sqlite://{database}", synchronous="OFF")
    async with Storage(backend) as storage:
        model = OfflineModel(
            [when("charge").call("charge", amount=3), after("charge").say("done"), otherwise.say("hm")]
        )
        thread: Thread = Agent("till", model=model, tools=[charge], storage=storage).thread("t")
        await thread.send("please charge it")
        target = next(each for each in await thread.history() if each["next"] == ["tools"])
        for _ in range(turns):
            await thread.send("anything")
        rows = await count_rows(backend)
        await (thread.copy("copied", checkpoint_id=target["id"]) if verb == "copy" else thread.rewind(target["id"]))
        return rows[0]
