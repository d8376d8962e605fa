"""The suite itself: nothing in it is lost, and leaving something out takes a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

import pytest
from msgspec.structs import replace

from clew_storage.conformance import BackendPromises, Category, Promises, hold_to_model
from clew_storage.conformance.categories import belongs_to
from clew_storage.conformance.examples import UID, a_write, an_approval
from clew_storage.conformance.machine import KEYS, StorageMachine
from clew_storage.memory import MemoryBackend
from clew_storage.memory.appends import append
from clew_storage.memory.archive import MemoryArchive
from clew_storage.memory.cache import MemoryCache
from clew_storage.memory.retention import MemoryRetention
from clew_storage.memory.tables import Tombstone
from clew_storage.memory.threads import MemoryThreads
from clew_storage.records import (
    CachedValue,
    CacheKey,
    StateChange,
    ThreadKey,
    ThreadRecord,
    Trim,
    Write,
    Written,
)
from clew_storage.thread_parts import CheckpointPart, Part


def test_no_promise_hides_another_of_the_same_name() -> None:
    names = Counter(name for part in BackendPromises.__mro__ for name in vars(part) if name.startswith("test_"))
    assert [name for name, times in names.items() if times > 1] == []
    assert len(names) > 150


def test_the_model_knows_an_approval_whose_version_was_trimmed() -> None:
    machine = type("Machine", (StorageMachine,), {"make_database": staticmethod(lambda: MemoryBackend)})()
    key = KEYS[0]
    try:
        machine.acquire(key)
        grant = machine.model.held[key]
        for write in (a_write(grant, 1, approvals=(an_approval(1, key=key),)), a_write(grant, 2)):
            machine.run(machine.backend.threads.append(write))
            assert machine.model.append(write) is None
        machine.release(key)
        trim = Trim(key, UID, 2, 2)
        assert machine.run(machine.backend.retention.trim_thread(trim))
        assert machine.model.trim(trim)
        assert machine.model.threads[key].approvals
        machine.all_threads_are_as_the_model_says()
    finally:
        machine.teardown()


class Sample(Promises):
    @belongs_to(Category.DURABLE)
    def test_durable(self) -> None: ...

    def test_other(self) -> None: ...


def test_opting_out_takes_out_what_belongs_to_the_category_and_nothing_else() -> None:
    class Volatile(Sample):
        opted_out: ClassVar = {Category.DURABLE: "a reason"}

    kept = [cls for cls in (Sample, Volatile) if getattr(cls, "test_durable") is not None]  # noqa: B009 - mypy knows better
    assert kept == [Sample]
    assert Volatile.test_other is not None


def test_opting_out_takes_a_reason() -> None:
    with pytest.raises(AssertionError, match="without a reason"):
        type("Silent", (Sample,), {"opted_out": {Category.DURABLE: ""}})


class Forgetful(MemoryThreads):
    """Never removes a key."""

    async def append(self, write: Write) -> Written:
        change = write.state
        if change is not None and change.removed:
            write = replace(write, state=StateChange(change.replaced, change.appended))
        return await super().append(write)


class Remembering(MemoryThreads):
    """Erases nothing."""

    async def append(self, write: Write) -> Written:
        return await super().append(replace(write, erased=()))


class Telling(MemoryThreads):
    """Redacts nothing."""

    async def append(self, write: Write) -> Written:
        return await super().append(replace(write, redactions=()))


class Unfenced(MemoryThreads):
    """Lets any epoch write."""

    async def append(self, write: Write) -> Written:
        return append(self._tables(), write, admitted=True)


class Immortal(MemoryCache):
    """Gives what has expired."""

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        return self._tables().values.get(key)


class Joining(MemoryCache):
    """Joins the parts of a name without escaping them."""

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        namespace, _, rest = f"{key.namespace}:{key.key}".partition(":")
        await super().put_value(CacheKey(key.tenant, namespace, rest), value)

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        namespace, _, rest = f"{key.namespace}:{key.key}".partition(":")
        return await super().get_value(CacheKey(key.tenant, namespace, rest), now_ms=now_ms)


class Stateless(MemoryArchive):
    """Leaves behind what checkpoints changed in the state."""

    async def import_thread(self, parts: Iterable[Part]) -> None:
        await super().import_thread(
            [replace(part, change=None) if isinstance(part, CheckpointPart) else part for part in parts]
        )


class Greedy(MemoryRetention):
    """Trims the state at the oldest version that is kept, too."""

    async def trim_thread(self, trim: Trim) -> bool:
        done = await super().trim_thread(trim)
        thread = self._tables().threads.get(trim.key)
        if thread is not None and done:
            thread.changes = {at: change for at, change in thread.changes.items() if at > trim.oldest_version}
        return done


class Hasty(MemoryRetention):
    """Deletes what it is told to, whatever waits there."""

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        for thread in threads:
            if stored := self._tables().threads.get(thread.key):
                self._tables().bury(stored, Tombstone(self._leases.next_epoch(), now_ms))
        return [thread.key for thread in threads]


@pytest.mark.parametrize(
    "broken", [Forgetful, Remembering, Telling, Unfenced, Immortal, Joining, Stateless, Greedy, Hasty]
)
def test_the_model_catches_a_broken_backend(
    broken: type[MemoryThreads | MemoryCache | MemoryArchive | MemoryRetention],
) -> None:
    def make() -> MemoryBackend:
        backend = MemoryBackend()
        if issubclass(broken, MemoryThreads):
            backend._threads = broken(backend._opened, backend._leases)
        elif issubclass(broken, MemoryRetention):
            backend._retention = broken(backend._opened, backend._leases)
        elif issubclass(broken, MemoryArchive):
            backend._archive = broken(backend._opened, backend._leases)
        else:
            backend._cache = broken(backend._opened)
        return backend

    with pytest.raises(Exception):  # noqa: B017, PT011 - hypothesis wraps what it found
        # It ends with the first history that finds it out, which for what is rarely done takes some hundreds.
        hold_to_model(lambda: make, histories=4000, shrink=False)
