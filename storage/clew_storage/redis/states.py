"""Large states as they were read last, and the decorator that reads them instead of the database where they are still the newest."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from clew_storage.beside import KeptState, RedisSettings
from clew_storage.port import Retention, Threads
from clew_storage.records import Glance, RequestRecord, ThreadKey, ThreadRecord, Write, Written
from clew_storage.redis.link import FAILURES, Link

_FORMAT = 2


class RedisStates:
    """One state a thread, under the thread's name. Nothing here raises: what Redis does not say is not known."""

    def __init__(self, link: Link, settings: RedisSettings) -> None:
        self._link = link
        self._prefix = settings.prefix
        self._ttl_ms = max(1, round(settings.cache_ttl * 1000))
        self._patience_s = settings.patience
        self._gone: set[str] = set()
        self._forgetting: asyncio.Task[None] | None = None
        self.large = settings.large_state

    @property
    def is_up(self) -> bool:
        """Whether anything can be known."""
        return self._link.is_up

    async def recall(self, key: ThreadKey) -> KeptState | None:
        """What is kept of the thread."""
        if not self._link.is_up or self._name(key) in self._gone:
            return None
        try:
            async with asyncio.timeout(self._patience_s):
                found: Any = await self._link.client.get(self._name(key))
                return _decoded(found)
        except FAILURES as error:
            self._link.lost(error)
            return None

    async def keep(self, key: ThreadKey, state: KeptState) -> None:
        """Keep a state for the time that the settings name."""
        if self._name(key) in self._gone:
            # What is erased is what was there before.
            await self.close()
        if not self._link.is_up:
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._link.client.set(self._name(key), _encoded(state), px=self._ttl_ms)
        except FAILURES as error:
            self._link.lost(error)

    def forget(self, key: ThreadKey) -> None:
        """Erase what is kept, soon; where Redis is away its time erases it."""
        if self._link.is_up:
            self._gone.add(self._name(key))
            if self._forgetting is None or self._forgetting.done():
                self._forgetting = asyncio.get_running_loop().create_task(self._forget())

    def move(self) -> None:
        """Forget the tasks of an event loop that is closed."""
        self._gone.clear()
        self._forgetting = None

    async def close(self) -> None:
        """Wait for what is being erased."""
        if self._forgetting is not None:
            await asyncio.wait({self._forgetting})

    async def _forget(self) -> None:
        while self._gone:
            some = list(self._gone)
            try:
                async with asyncio.timeout(self._patience_s):
                    await self._link.client.unlink(*some)
            except FAILURES as error:
                self._link.lost(error)
            self._gone.difference_update(some)

    def _name(self, key: ThreadKey) -> str:
        # A thread's id has no slash in it.
        return f"{self._prefix}:state/{key.tenant}/{key.thread_id}"


class CachedThreads:
    """`Threads` of which the newest state may come from Redis, when a look at the head says that it is still that.

    A state of one uid, epoch and version never changes, so that what is kept under the three is right or of no use.
    """

    def __init__(self, inner: Threads, states: RedisStates) -> None:
        self._inner = inner
        self._states = states

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def get_state(self, key: ThreadKey, *, version: int | None) -> dict[str, bytes] | None:
        """As the port says."""
        if not self._states.is_up:
            return await self._inner.get_state(key, version=version)
        kept, glances = await asyncio.gather(self._states.recall(key), self._inner.glance([key]))
        head = glances[key]
        if not head.head_version or version not in (None, head.head_version):
            return await self._inner.get_state(key, version=version)
        if kept is not None and (kept.uid, kept.epoch, kept.version) == _mark(head):
            return kept.values
        state = await self._inner.get_state(key, version=version)
        if state is not None and _size(state) >= self._states.large:
            after = (await self._inner.glance([key]))[key]
            # Read between two looks that saw the same: it is of this content and no other.
            if _mark(after) == _mark(head):
                await self._states.keep(key, KeptState(*_mark(head), state))
        return state

    async def append(self, write: Write) -> Written:
        """As the port says."""
        written = await self._inner.append(write)
        if write.state is not None or write.fork_of is not None:
            self._states.forget(write.key)
        return written

    async def copy_thread(self, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write) -> Written:
        """As the port says."""
        written = await self._inner.copy_thread(source, source_uid, target, write)
        self._states.forget(target.key)
        return written

    async def delete_thread(
        self, key: ThreadKey, *, request: RequestRecord | None, now_ms: int, expected_version: int | None = None
    ) -> bool:
        """As the port says."""
        existed = await self._inner.delete_thread(
            key, request=request, now_ms=now_ms, expected_version=expected_version
        )
        self._states.forget(key)
        return existed


class CachedRetention:
    """`Retention` after which nothing is kept of what is gone."""

    def __init__(self, inner: Retention, states: RedisStates) -> None:
        self._inner = inner
        self._states = states

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """As the port says."""
        gone = await self._inner.delete_idle(threads, now_ms=now_ms)
        for key in gone:
            self._states.forget(key)
        return gone


def _mark(glance: Glance) -> tuple[str, int, int]:
    return glance.uid, glance.epoch, glance.head_version


def _size(state: Mapping[str, bytes]) -> int:
    return sum(map(len, state.values()))


def _encoded(state: KeptState) -> bytes:
    """A line of JSON that says what follows, and the values as they are."""
    head = orjson.dumps(
        [_FORMAT, state.uid, state.epoch, state.version, [[name, len(value)] for name, value in state.values.items()]]
    )
    return b"".join((head, b"\n", *state.values.values()))


def _decoded(kept: bytes | None) -> KeptState | None:
    """None where nothing is kept, or something that is not in this format."""
    place = 0 if kept is None else kept.find(b"\n") + 1
    if kept is None or not place:
        return None
    try:
        found, *told = orjson.loads(kept[:place])
    except ValueError:
        return None
    if found != _FORMAT:
        return None
    uid, epoch, version, names = told
    values: dict[str, bytes] = {}
    for name, size in names:
        values[name] = kept[place : place + size]
        place += size
    return KeptState(uid, epoch, version, values)
