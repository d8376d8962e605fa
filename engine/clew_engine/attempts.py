"""How an attempt begins: the request record, the wait for the thread, the table, the first durable write, and then its stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from clew_engine.drafts import Draft
from clew_engine.errors import (
    ApprovalExpiredError,
    ClewError,
    ResumeInvalidError,
    RunCancelledError,
    StreamCutError,
    ThreadSuspendedError,
    expect_version,
)
from clew_engine.events import Event, Heartbeat, RunQueued
from clew_engine.hub import Subscription
from clew_engine.incarnations import not_repeated, not_told_again
from clew_engine.leasing import DRAINING, INTERRUPTED, BusyWait, is_void
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, RunOptions
from clew_engine.program import Program
from clew_engine.requests import RequestLog
from clew_engine.runs import Run
from clew_engine.streams import Batches, EventStream, attempt_batches, leave_run
from clew_engine.watch import watch_batches
from clew_storage import Grant, Head, LeaseLost, RequestRecorded, Source, ThreadInfo, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

T = TypeVar("T")
# The verbs of attempts that nobody asked for: what waits has expired; a run died.
EXPIRE, RECOVER = "expire", "recover"


@dataclass(frozen=True, slots=True)
class Opening:
    """The first write of an attempt, and the program that goes on from it. `info` is for a thread that it makes."""

    draft: Draft
    program: Program
    info: ThreadInfo | None = None


# Judges the thread by the table and says how the attempt opens, or raises why not. The transcript and state are loaded.
Open = Callable[[OpenThread], Opening]
# What can be said before waiting for the thread; raises the refusal.
Arrival = Callable[[Head | None], Coroutine[Any, Any, None]]
# What needs a read under the lease before the opening can judge.
Look = Callable[[OpenThread], Coroutine[Any, Any, None]]


class Attempt:
    """One call that starts an attempt, from its arrival to the end of its stream."""

    def __init__(
        self,
        storage: Storage,
        key: ThreadKey,
        verb: str,
        opening: Open,
        mutation: Mutation,
        options: RunOptions,
        arrival: Arrival | None = None,
        look: Look | None = None,
    ) -> None:
        self._storage = storage
        self._key = key
        self._verb = verb
        self._opening = opening
        self._mutation = mutation
        self._options = options
        self._arrival = arrival
        self._look = look
        self._requests = RequestLog(storage, key, verb, mutation)
        self._run: Run | None = None
        self._reader: Subscription | None = None
        self._admission: asyncio.Task[tuple[str, int] | None] | None = None
        self._uid = ""
        self._was_there = False

    def stream(self) -> EventStream:
        """The attempt's events."""
        return EventStream(self._batches if self._verb in (EXPIRE, RECOVER) else self._settled, self._left)

    async def _settled(self) -> Batches:
        """The events; where the thread waits for what has expired, that counts as rejected first, and the run goes on before this call has its turn."""
        try:
            async with aclosing(self._batches()) as batches:
                async for batch in batches:
                    yield batch
            return
        except (ThreadSuspendedError, ResumeInvalidError, ApprovalExpiredError) as refusal:
            async with self._storage.calling(self._key):
                found = await self._storage.settle_expired(self._key)
            if not found or isinstance(refusal, ApprovalExpiredError):
                raise
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                yield batch

    async def _batches(self) -> Batches:
        storage, key = self._storage, self._key
        async with (
            storage.calling(key),
            storage.arrivals.arriving(key, self._mutation.request_id) as arrival,
        ):
            wait = BusyWait(storage, key, self._options, "run", arrival)
            grant = None if storage.draining else await wait.at_once()
            found, free = None, grant is not None
            if grant is None:
                found, head = await self._arrive_late()
                if found is None:
                    found, grant = await self._unless_recorded(wait.try_now())
                if found is None and grant is None:
                    queued = self._queued(head)
                    storage.hub.publish(key, [queued])
                    yield [queued]
                    found, grant = await self._unless_recorded(wait.acquire())
            if grant is not None:
                try:
                    arrival.begin()
                except RunCancelledError:
                    await storage.backend.leases.release(grant)
                    raise
                found = await self._admitted(wait, grant, arriving=free)
            arrival.settle()
            async with aclosing(self._live() if found is None else self._replay(found)) as batches:
                async for batch in batches:
                    yield batch

    async def _unless_recorded(self, step: Awaitable[T]) -> tuple[tuple[str, int] | None, T | None]:
        """What a step gives; or, where it is refused, what the same request has written on another server since, which may be why."""
        try:
            return None, await step
        except ClewError:
            found = await self._requests.find()
            if found is None:
                raise
            return found, None

    async def _admitted(self, wait: BusyWait, grant: Grant, *, arriving: bool) -> tuple[str, int] | None:
        """See `_admit`."""
        while True:
            self._admission = self._storage.spawn(self._admit(grant, arriving=arriving))
            try:
                return await asyncio.shield(self._admission)
            except LeaseLost:
                if self._was_there:
                    raise
            # Nothing was there and nothing was written: the lease went with a thread that was deleted meanwhile, or in a crash of the database.
            grant, arriving = await wait.acquire(), False

    async def _live(self) -> Batches:
        assert self._reader is not None
        assert self._run is not None
        try:
            run_id = self._run.thread.run_id
            async for batch in attempt_batches(self._reader, run_id, self._storage.tuning.heartbeat_s, self._beat):
                yield batch
            self._run = None
        except ClewError:
            # The stream was ended from this side (a drain, a slow reader, a deletion): nobody left it.
            self._run = None
            raise
        finally:
            self._storage.hub.unsubscribe(self._key, self._reader)

    async def _arrive_late(self) -> tuple[tuple[str, int] | None, Head | None]:
        """Arrive at a thread that is not free: what the same request wrote before, or else the head as it is now."""
        found = await self._requests.find()
        if found is not None:
            return found, None
        if self._storage.draining:
            raise StreamCutError(0, DRAINING)
        head = await self._storage.backend.threads.get_head(self._key)
        found, _ = await self._unless_recorded(self._arrive(head))
        return found, head

    async def _arrive(self, head: Head | None) -> None:
        version = head.thread.head_version if head else 0
        expect_version(self._key.thread_id, self._mutation.expected_version, version)
        if self._arrival is not None:
            await self._arrival(head)

    async def _admit(self, grant: Grant, *, arriving: bool) -> tuple[str, int] | None:
        """Open the attempt under its grant; a version means that the same request was recorded before.

        That is looked for only where the thread refuses it: most requests come once, and the write itself takes none twice.
        """
        storage = self._storage
        kept = False
        try:
            head = await storage.backend.threads.get_head(self._key)
            if is_void(grant, head):
                self._was_there = False
                raise LeaseLost(f"thread {self._key.thread_id} has another owner, or was deleted and begun anew")
            self._was_there = head is not None
            try:
                if arriving:
                    await self._arrive(head)
                await self._open_anew(grant, head)
            except (ClewError, RequestRecorded):
                found = await self._requests.find()
                if found is None:
                    raise
                return found
            kept = True
            assert self._run is not None
            if storage.interrupters[self._key]:
                self._run.stop("cancelled", INTERRUPTED)
            storage.spawn(self._run.execute())
            return None
        finally:
            if not kept:
                self._forget()
                await storage.backend.leases.release(grant)

    async def _open_anew(self, grant: Grant, head: Head | None) -> None:
        """As `_open`, and again where an update, which waits for no lease, has made the thread since its head was read."""
        try:
            await self._open(grant, head)
        except LeaseLost:
            made = None if head else await self._storage.backend.threads.get_head(self._key)
            if made is None or is_void(grant, made) or not self._storage.backend.leases.holds(grant):
                raise
            self._forget()
            await self._open(grant, made)

    async def _open(self, grant: Grant, head: Head | None) -> None:
        """Judge the thread as it is, and write how the attempt opens."""
        storage = self._storage
        thread = OpenThread(storage, grant, head)
        thread.expect(self._mutation.expected_version)
        if self._look is not None:
            await self._look(thread)
        await thread.load()
        opening = self._opening(thread)
        if opening.draft.source is not Source.INPUT and thread.head is not None:
            await opening.program.check_recorded(storage, self._key, thread.head)
        self._uid = thread.uid
        self._reader = storage.hub.subscribe(self._key, thread.uid)
        self._reader.start_at(thread.version)
        limits = opening.program.limits.narrowed(self._options.limits)
        self._run = Run(storage, thread, opening.program, limits, self._options.actor)
        storage.live[self._key] = self._run
        storage.lookout.wake()
        self._run.resumes = opening.draft.source is Source.RETRY
        self._run.began = (await thread.commit(opening.draft, self._requests.record(), opening.info)).version

    def _forget(self) -> None:
        """Nothing was opened: leave no trace of it."""
        if self._reader is not None:
            self._storage.hub.unsubscribe(self._key, self._reader)
        if self._run is not None:
            # Where the lease was lost another run may have taken its place since.
            if self._storage.live.get(self._key) is self._run:
                del self._storage.live[self._key]
            if not self._run.ended.done():
                self._run.ended.set_result(None)
            self._run = None

    async def _replay(self, found: tuple[str, int]) -> Batches:
        uid, version = found
        record = await self._storage.backend.threads.get_checkpoint(self._key, version)
        # After the record: a thread that is there now was there then.
        head = await self._storage.backend.threads.get_head(self._key)
        if head is None or head.thread.uid != uid:
            raise not_repeated(self._key.thread_id, uid, head)
        if record is None:
            raise not_told_again(self._key.thread_id, uid, version)
        async for batch in watch_batches(
            self._storage, self._key, uid=uid, after_version=version - 1, run_version=record.run_version, follow=False
        ):
            yield batch

    async def _left(self) -> None:
        if self._admission is not None and not self._admission.done():
            await asyncio.wait({self._admission})
        run, self._run = self._run, None
        if run is not None:
            await leave_run(run, self._options.on_disconnect)

    def _queued(self, head: Head | None) -> Event:
        ahead = self._storage.backend.leases.queued(self._key)
        return self._event(head.thread.uid if head else "", head.thread.head_version if head else 0, RunQueued(ahead))

    def _beat(self) -> Event:
        run = self._run
        version = run.thread.version if run else 0
        return self._event(self._uid, version, Heartbeat())

    def _event(self, uid: str, version: int, payload: Any) -> Event:
        run_id = self._run.thread.run_id if self._run else ""
        return Event(self._key.thread_id, uid, run_id, version, False, self._storage.now_ms(), payload)
