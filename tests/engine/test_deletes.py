"""A delete beside its own repetition."""

from __future__ import annotations

import pytest

from clew_engine import Agent, Storage
from clew_storage import Head, ThreadKey


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_a_delete_that_its_twin_overtakes_between_its_reads_has_the_same_outcome(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Storage(url) as storage:
        thread = Agent("a", storage=storage).thread("t")
        await thread.send("hello")
        threads = storage.backend.threads
        read = threads.get_head
        twin: list[bool] = []

        async def read_after_the_twin(key: ThreadKey) -> Head | None:
            if not twin:
                twin.append(False)
                twin[0] = await thread.delete(request_id="the-same")
            return await read(key)

        monkeypatch.setattr(threads, "get_head", read_after_the_twin)
        assert await thread.delete(request_id="the-same")
        assert twin == [True]
