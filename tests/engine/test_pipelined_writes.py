"""Writes that are under way together: what is told when the first of them fails."""

from __future__ import annotations

import pytest

from clew_engine import Agent, OfflineModel, Storage
from clew_engine.errors import StorageFullError
from clew_engine.models.offline_rules import after, otherwise
from clew_engine.tools import tool
from clew_storage import Source, StorageFull, Write, Written


@tool
async def one() -> str:
    """A tool."""
    return "1"


@tool
async def two() -> str:
    """Another."""
    return "2"


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_the_first_error_is_told_when_the_writes_after_it_fail_too(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = OfflineModel([after("one", "two").say("done"), otherwise.call("one").call("two")])
    async with Storage(url) as storage:
        thread = Agent("a", model=model, tools=[one, two], storage=storage).thread("t")
        append = storage.backend.threads.append
        full = [True]

        async def append_while_there_is_room(write: Write) -> Written:
            if full and write.checkpoint.source is Source.STEP and write.messages[0].role == "tool":
                full.clear()
                raise StorageFull("no room")
            return await append(write)

        monkeypatch.setattr(storage.backend.threads, "append", append_while_there_is_room)
        with pytest.raises(StorageFullError):
            await thread.send("go")
        assert (await thread.retry()).text == "done"
