"""How an attempt begins, where something else comes between its reads and its first write."""

from __future__ import annotations

import pytest

from clew_engine import Agent, Storage, ThreadInfo
from clew_storage import Head, ThreadKey


@pytest.mark.parametrize("url", ["memory://", "sqlite://:memory:"])
async def test_a_first_send_survives_an_update_that_makes_its_thread_meanwhile(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Storage(url) as storage:
        agent = Agent("a", storage=storage)
        threads = storage.backend.threads
        read = threads.get_head
        made: list[ThreadInfo | None] = []

        async def read_before_the_update(key: ThreadKey) -> Head | None:
            found = await read(key)
            if not made:
                made.append(None)
                made[0] = await agent.thread(key.thread_id).update(
                    name="from the inbox", user_id="ada", allow_missing=True
                )
            return found

        monkeypatch.setattr(threads, "get_head", read_before_the_update)
        reply = await agent.thread("t").send("hello")
        info = await agent.thread("t").info()
        assert made[0] is not None
        assert reply.thread_uid == made[0].thread_uid == info.thread_uid
        assert (info.name, info.user_id, info.app) == ("from the inbox", "ada", "a")
        assert storage.hub.readers() == 0
        assert not storage.live
