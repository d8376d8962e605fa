"""Random histories, held to the plain model step by step."""
# ruff: noqa: D102 - a rule's name says what it does

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from itertools import islice
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from clew_storage.conformance.cache_rules import CacheRules
from clew_storage.conformance.categories import MakeBackend
from clew_storage.conformance.draws import draw_write, often, requests, texts
from clew_storage.conformance.examples import NOW, a_request, a_thread
from clew_storage.conformance.model import Model, Thread, ranges, spelled
from clew_storage.conformance.retention_rules import RetentionRules
from clew_storage.errors import LeaseBusy, StorageError, ThreadMissing
from clew_storage.records import (
    CheckpointRecord,
    Grant,
    InfoChange,
    RequestRecord,
    Source,
    Status,
    ThreadFilter,
    ThreadKey,
    Write,
)

T = TypeVar("T")
KEYS = [ThreadKey("acme", "a"), ThreadKey("acme", "b"), ThreadKey("acme", "c"), ThreadKey("umbrella", "a")]
keys = st.sampled_from(KEYS)


class StorageMachine(CacheRules, RetentionRules):
    """One backend and one model; `make_database` and `reopens` are given by `hold_to_model`."""

    make_database: Callable[[], MakeBackend]
    reopens = False

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.make_backend = type(self).make_database()
        self.backend = self.make_backend()
        self.runner.run(self.backend.open())
        self.model = Model()
        self.grants: dict[ThreadKey, list[Grant]] = {key: [] for key in KEYS}
        self.count = 0
        self.cursor: tuple[int, str] | None = None
        self.erased: set[str] = {"unknown"}

    def teardown(self) -> None:
        self.runner.run(self.backend.close())
        self.runner.close()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(call)

    def outcome(self, call: Coroutine[Any, Any, T]) -> T | type[StorageError]:
        try:
            return self.run(call)
        except StorageError as error:
            return type(error)

    def now(self) -> int:
        self.count += 1
        return self.time()

    def time(self) -> int:
        # Several things happen within one millisecond.
        return NOW + self.count // 3

    def request(self, number: int | None, uid: str, version: int = 0) -> RequestRecord | None:
        return None if number is None else a_request(number, uid=uid, version=version, created_at_ms=self.now())

    @rule(key=keys)
    def acquire(self, key: ThreadKey) -> None:
        got = self.outcome(self.backend.leases.acquire(key, purpose="run", wait_s=0))
        if key in self.model.held:
            assert got is LeaseBusy
            return
        assert isinstance(got, Grant)
        assert got.epoch > max((grant.epoch for grant in self.grants[key]), default=0)
        self.model.held[key] = got
        self.grants[key].append(got)

    @rule(key=keys)
    def release(self, key: ThreadKey) -> None:
        for grant in self.grants[key]:
            self.run(self.backend.leases.release(grant))
            self.model.held.pop(key, None)

    @rule(key=keys, data=st.data(), times=st.integers(1, 6))
    def append_some(self, key: ThreadKey, data: st.DataObject, times: int) -> None:
        """Most of a history is writes."""
        for _ in range(times):
            self._append(key, data, fresh=data.draw(often), right=data.draw(often))

    def _append(self, key: ThreadKey, data: st.DataObject, *, fresh: bool, right: bool) -> None:
        if not fresh and data.draw(st.booleans()):
            # The lease goes to another writer, and the one before may still try.
            self.release(key)
        if key not in self.model.held and (fresh or data.draw(st.booleans())):
            self.acquire(key)
        if not self.grants[key]:
            return
        grant = self.grants[key][-1] if fresh else data.draw(st.sampled_from(self.grants[key][-2:]))
        write = draw_write(data.draw, grant, self.model.threads.get(key), now=self.now(), count=self.count, right=right)
        got = self.outcome(self.backend.threads.append(write))
        refusal = self.model.append(write)
        if refusal is not None:
            assert got is type(refusal)
            return
        assert not isinstance(got, type)
        self.erased |= set(write.erased)
        thread = self.model.threads[key]
        assert (got.thread.head_version, got.thread.uid, got.thread.info) == (thread.head, thread.uid, thread.info)
        assert got.cancel_requested == (thread.cancel is not None)

    @rule(key=keys, name=st.none() | texts, user=st.none() | texts, create=st.booleans(), request=requests, right=often)
    def change_info(
        self, key: ThreadKey, name: str | None, user: str | None, request: int | None, *, create: bool, right: bool
    ) -> None:
        thread = self.model.threads.get(key)
        now = self.now()
        made = a_thread(key, uid=f"uid-{self.count}", created_at_ms=now) if create else None
        revision = thread.info.revision if thread and right else None if right else 77
        change = InfoChange(name=name, user_id=user, expected_revision=revision)
        record = self.request(request, thread.uid if thread else made.uid if made else "")
        got = self.outcome(self.backend.threads.change_info(key, change, create=made, request=record, now_ms=now))
        refusal = self.model.change_info(key, change, made, record, now)
        if refusal is not None:
            assert got is type(refusal)
        else:
            assert not isinstance(got, type)
            assert got.info == self.model.threads[key].info

    @rule(key=keys, in_run=st.integers(1, 2), request=requests, right=often)
    def request_cancel(self, key: ThreadKey, in_run: int, request: int | None, *, right: bool) -> None:
        thread = self.model.threads.get(key)
        uid = thread.uid if thread and right else "another"
        record = self.request(request, uid, thread.head if thread else 0)
        got = self.outcome(self.backend.threads.request_cancel(key, uid, in_run, 1, request=record))
        told = self.model.request_cancel(key, uid, in_run, 1, record)
        assert got == (type(told) if isinstance(told, StorageError) else told)

    @rule(source=keys, copy=keys, data=st.data(), request=requests)
    def copy_thread(self, source: ThreadKey, copy: ThreadKey, data: st.DataObject, request: int | None) -> None:
        origin = self.model.threads.get(source)
        version = data.draw(st.integers(1, origin.head + 1 if origin else 1))
        made = a_thread(copy, uid=f"uid-copy-{self.count}", created_at_ms=self.now())
        checkpoint = CheckpointRecord(
            version + 1, version, version + 1, 1, Status.FAILED, Source.FORK, 1, 1, self.now(), b"{}"
        )
        record = self.request(request, made.uid, version + 1)
        write = Write(copy, made.uid, 1, version, checkpoint, request=record, fork_of=version)
        uid = origin.uid if origin else "none"
        got = self.outcome(self.backend.threads.copy_thread(source, uid, made, write))
        refusal = self.model.copy(source, uid, made, write)
        assert (got if isinstance(got, type) else None) is (type(refusal) if refusal else None)

    @rule(key=keys, request=requests)
    def delete(self, key: ThreadKey, request: int | None) -> None:
        thread = self.model.threads.get(key)
        record = self.request(request, thread.uid if thread else "")
        got = self.outcome(self.backend.threads.delete_thread(key, request=record, now_ms=self.now()))
        expected = self.model.delete(key, record)
        assert got == (expected if isinstance(expected, bool) else type(expected))

    @rule()
    def forget(self) -> None:
        before = self.now() - 3
        assert self.run(self.backend.threads.forget_requests(before_ms=before)) == self.model.forget(before)

    @rule(by_update=st.booleans(), limit=st.integers(1, 3))
    def page(self, limit: int, *, by_update: bool) -> None:
        """Goes on from where the last page ended, whatever happened since."""
        found = self.run(
            self.backend.threads.list_threads(
                "acme", ThreadFilter(), by_update=by_update, after=self.cursor, limit=limit
            )
        )
        names = [thread.key.thread_id for thread in found]
        assert names == self.model.listed("acme", by_update=by_update, after=self.cursor)[:limit]
        self.cursor = None
        for last in found[-1:]:
            self.cursor = (last.updated_at_ms if by_update else last.created_at_ms, last.key.thread_id)

    @rule(key=keys)
    def export_and_import(self, key: ThreadKey) -> None:
        """A thread goes out, is deleted, and comes back as it was; who held it holds nothing any more."""
        if key not in self.model.threads:
            assert self.outcome(self._moved(key)) is ThreadMissing
            return
        assert self.run(self._moved(key))
        self.model.held.pop(key, None)

    async def _moved(self, key: ThreadKey) -> bool:
        async with aclosing(self.backend.archive.export_thread(key)) as parts:
            found = [part async for part in parts]
        deleted = await self.backend.threads.delete_thread(key, request=None, now_ms=self.time())
        await self.backend.archive.import_thread(found)
        return deleted

    @precondition(lambda self: self.reopens)
    @rule()
    def reopen(self) -> None:
        self.run(self.backend.close())
        self.backend = self.make_backend()
        self.run(self.backend.open())
        self.model.held.clear()

    @rule(key=keys, data=st.data())
    def read_a_version(self, key: ThreadKey, data: st.DataObject) -> None:
        thread = self.model.threads.get(key)
        if thread is None or not thread.head:
            return
        number = data.draw(st.integers(1, thread.head))
        version = thread.versions.get(number)
        state = self.run(self.backend.threads.get_state(key, version=number))
        assert (list(state.items()) if state is not None else None) == (version and spelled(version.state))
        newest_first, limit = data.draw(st.booleans()), data.draw(st.none() | st.integers(0, 4))
        after = data.draw(st.none() | st.integers(0, 12))
        got = self.run(
            self.backend.messages.list_messages(
                key, at_version=number, after_position=after, limit=limit, newest_first=newest_first
            )
        )
        transcript = version.transcript if version else {}
        places = sorted(transcript, reverse=newest_first)
        beyond = [at for at in places if after is None or (at < after if newest_first else at > after)]
        assert list(got) == [transcript[at] for at in islice(beyond, limit)]

    @invariant()
    def all_threads_are_as_the_model_says(self) -> None:
        for key in KEYS:
            self.run(self._compare(key, self.model.threads.get(key)))

    async def _compare(self, key: ThreadKey, thread: Thread | None) -> None:
        threads = self.backend.threads
        head = await threads.get_head(key)
        assert self.backend.leases.holder(key) == self.model.held.get(key)
        for number in range(1, 7):
            request_hash = a_request(number).request_hash
            assert await threads.find_request(key, request_hash) == self.model.requests.get((key, request_hash))
        if thread is None:
            assert head is None
            return
        assert head is not None
        version = thread.versions.get(thread.head)
        line = version.line if version else []
        assert (head.thread.uid, head.thread.info, head.thread.head_status) == (thread.uid, thread.info, thread.status)
        assert (head.thread.created_at_ms, head.thread.updated_at_ms) == (thread.created_at_ms, thread.updated_at_ms)
        assert (head.checkpoint, head.line) == (version and version.checkpoint, ranges(line))
        assert head.oldest_version == thread.oldest
        assert list(head.pending) == thread.pending()
        assert head.cancel_requested == (thread.cancel is not None)
        history = await threads.list_checkpoints(key, before_version=None, limit=1000)
        assert list(history) == [
            thread.versions[number].checkpoint for number in reversed(line) if number >= thread.oldest
        ]
        log = await threads.read_log(key, thread.uid, after_version=0, limit=1000, max_bytes=1 << 20)
        assert [(entry.checkpoint, entry.messages) for entry in log] == [
            (one.checkpoint, one.messages) for _, one in sorted(thread.versions.items())
        ]
        # Some outlive the version that asked for them, once the log was trimmed.
        logged = [asked.id for asked in thread.approvals.values() if asked.version in thread.versions]
        assert sorted(one.id for entry in log for one in entry.approvals) == sorted(logged)
        starts = await threads.list_starts(key, thread.uid, after_version=0, limit=1000)
        assert list(starts) == [
            one.checkpoint
            for _, one in sorted(thread.versions.items())
            if one.checkpoint.source in (Source.INTENT, Source.FORK)
        ]
        state = await threads.get_state(key, version=None)
        assert list((state or {}).items()) == (spelled(version.state) if version else [])
        messages = await self.backend.messages.list_messages(key)
        transcript = version.transcript if version else {}
        assert list(messages) == [transcript[position] for position in sorted(transcript)]
        for message in messages:
            assert await self.backend.messages.get_message(key, message.id) == message
        known = {row.id for one in thread.versions.values() for row in one.messages}
        known |= {row.id for row in thread.below.values()}
        asked_for = [*sorted(known), *self.erased]
        assert await self.backend.messages.known_ids(key, asked_for) == known
        asked = await self.backend.approvals.list_approvals(key.tenant, key=key, limit=1000)
        assert {one.id: one for one in asked} == thread.approvals


def hold_to_model(
    make_database: Callable[[], MakeBackend], *, reopens: bool = False, histories: int = 20, shrink: bool = True
) -> None:
    """Run random histories and compare the backend with the model after each step.

    Each history has an empty database of its own, and each call of what `make_database` returns is a backend on it;
    with `reopens` a history also closes it and opens it again. The environment's `CLEW_FAULTS=full` asks for 500
    histories of 50 steps; otherwise there are `histories` of 25. What fails is made small before it is shown, unless
    `shrink` is False because it is expected.
    """
    full = os.environ.get("CLEW_FAULTS") == "full"
    given = {"make_database": staticmethod(make_database), "reopens": reopens}
    run_state_machine_as_test(
        type("Machine", (StorageMachine,), given),
        settings=settings(
            max_examples=500 if full else histories,
            stateful_step_count=50 if full else 25,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
