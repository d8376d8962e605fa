"""`allow_stale`: a large state as Redis has it, without a look at the database, and with its version."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

import clew
from clew.v1.thread_service_pb2 import GetStateRequest
from clew_engine import Agent, Storage
from clew_storage import KeptState, RedisSettings, ThreadKey
from tests.scenarios.scripts import ScriptedModel
from tests.support.redis import KeptRedis, as_shared
from tests.support.serving import Served, serving

KEY = ThreadKey("", "t")
LARGE = {"text": "x" * 40_000}


@dataclass
class Site:
    """A server beside Redis, its storage, and a thread with a large state that was read once."""

    served: Served
    storage: Storage
    thread: clew.Thread

    async def answer(self, **fields: Any) -> Any:
        """GetState on the wire."""
        return await self.served.threads.GetState(GetStateRequest(thread_id="t", **fields))

    async def keep_old(self) -> int:
        """Have Redis keep what is the head's now, as if it could not be reached at the next write; the version."""
        now = await self.answer()
        values = dict.fromkeys(LARGE, b'"old"')
        states: Any = self.storage.beside.states if self.storage.beside else None
        await states.close()
        epoch = (await self.storage.backend.threads.glance([KEY]))[KEY].epoch
        await states.keep(KEY, KeptState(now.checkpoint_id.partition(".")[0], epoch, now.version, values))
        return int(now.version)


@pytest.fixture
async def site(kept_redis: KeptRedis) -> AsyncIterator[Site]:
    storage = Storage(as_shared("memory://"), redis=RedisSettings(kept_redis.url, prefix=uuid4().hex, patience=10.0))
    agent = Agent("app", model=ScriptedModel(), storage=storage)
    async with storage, serving([agent], storage) as served, clew.Client(served.target) as client:
        thread = client.app("app").thread("t")
        await thread.update_state(LARGE)
        assert await thread.state() == LARGE
        yield Site(served, storage, thread)


async def test_it_may_be_of_an_earlier_version_and_says_which(site: Site) -> None:
    version = await site.keep_old()
    await site.thread.append_messages([{"role": "user", "content": "a version without a change of state"}])
    answer = await site.answer(allow_stale=True)
    assert (answer.version, answer.checkpoint_id.endswith(f".{version}")) == (version, True)
    assert await site.thread.state(allow_stale=True) == {"text": "old"}
    assert await site.storage.thread("t").state(allow_stale=True) == {"text": "old"}
    assert await site.thread.state() == LARGE
    assert (await site.answer()).version == version + 1


async def test_after_a_write_of_state_it_is_as_it_was_written(site: Site) -> None:
    await site.keep_old()
    await site.thread.update_state({"more": 1})
    assert await site.thread.state(allow_stale=True) == {**LARGE, "more": 1}


async def test_after_a_delete_there_is_none(site: Site) -> None:
    await site.keep_old()
    await site.thread.delete()
    with pytest.raises(clew.ThreadNotFoundError):
        await site.thread.state(allow_stale=True)


async def test_a_checkpoint_that_is_named_is_the_one_that_is_read(site: Site) -> None:
    first = await site.answer()
    await site.thread.append_messages([{"role": "user", "content": "a version without a change of state"}])
    await site.keep_old()
    answer = await site.answer(checkpoint_id=first.checkpoint_id, allow_stale=True)
    assert (answer.version, answer.state_json) == (first.version, first.state_json)


async def test_without_redis_it_is_read_from_the_database(site: Site, kept_redis: KeptRedis) -> None:
    kept_redis.kill()
    assert await site.thread.state(allow_stale=True) == LARGE
