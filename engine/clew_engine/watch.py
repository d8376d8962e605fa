"""Watching a thread: what was missed, from the log, and then what happens."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.approvals import Approval, view_approval
from clew_engine.checkpoints import decode_body
from clew_engine.errors import ArgumentInvalidError, RunNotFoundError, StorageUnavailableError, ThreadInterruptedError
from clew_engine.events import (
    CheckpointWritten,
    Event,
    Heartbeat,
    LogTrimmed,
    MessageDiscarded,
    ReasoningDelta,
    RunStarted,
    TextDelta,
)
from clew_engine.incarnations import deleted, not_watched
from clew_engine.log_events import ends_attempt, events_of, read_entry, terminal_of, view_message
from clew_engine.lookout import is_alive
from clew_engine.node_talks import path_of
from clew_engine.streams import Batches, EventStream
from clew_storage import Head, LogEntry, Status, ThreadKey, ThreadMissing

if TYPE_CHECKING:
    from clew_engine.hub import Subscription
    from clew_engine.storage import Storage

_PAGE = 200
_OF_A_TEXT = (TextDelta, ReasoningDelta, MessageDiscarded)
_PAGE_BYTES = 1 << 20


async def watch_batches(
    storage: Storage, key: ThreadKey, *, uid: str | None, after_version: int, run_version: int | None, follow: bool
) -> Batches:
    """The events after a version. With a run: until its first terminal. Without: until the head is not in progress, or for ever with `follow`.

    Raises ThreadNotFoundError (also when the thread is deleted meanwhile, or is another incarnation than `uid`), ArgumentInvalidError for a cursor
    beyond the head, ThreadInterruptedError when what is watched can not go on by itself.
    """
    reader = storage.hub.subscribe(key)
    reader.heed_others()
    try:
        with storage.exchange.following(key) if storage.exchange else nullcontext():
            watch = _Watch(storage, key, after_version, run_version, follow, reader)
            await watch.begin(uid)
            async for batch in watch.batches():
                yield batch
    finally:
        storage.hub.unsubscribe(key, reader)


def watch_stream(
    storage: Storage,
    key: ThreadKey,
    *,
    uid: str = "",
    after_version: int = 0,
    run_id: str = "",
    follow: bool = False,
) -> EventStream:
    """`watch_batches` as a stream, its arguments checked at the first read."""

    async def batches() -> Batches:
        if after_version < 0:
            raise ArgumentInvalidError("after_version", "a version is not negative; 0 begins with the first")
        async with storage.calling(key):
            run_version = None
            if run_id:
                head = await storage.backend.threads.get_head(key)
                if head is None or (uid and uid != head.thread.uid):
                    raise not_watched(key.thread_id, uid, head)
                run_version = ids.run_version(head.thread.uid, run_id)
                if run_version is None:
                    raise run_not_found(key, run_id)
            stream = watch_batches(
                storage, key, uid=uid or None, after_version=after_version, run_version=run_version, follow=follow
            )
            async with aclosing(stream):
                async for batch in stream:
                    yield batch

    return EventStream(batches)


def run_not_found(key: ThreadKey, run_id: str) -> RunNotFoundError:
    """The error of a run id that the thread does not have."""
    return RunNotFoundError(
        f"thread {key.thread_id!r} has no run {run_id!r}; take run ids from its history",
        thread_id=key.thread_id,
        run_id=run_id,
    )


class _Watch:
    def __init__(
        self,
        storage: Storage,
        key: ThreadKey,
        cursor: int,
        run_version: int | None,
        follow: bool,
        reader: Subscription,
    ) -> None:
        self._storage = storage
        self._key = key
        self._cursor = cursor
        self._run_version = run_version
        self._follow = follow
        self._reader = reader
        self._uid = ""
        self._ended = False
        self._said = 0
        self._began = 0
        self._written_inside: set[str] = set()
        # What came before the log was read as far as it: another server's text may be here sooner than its last write was seen.
        self._early: list[Event] = []

    async def begin(self, uid: str | None) -> None:
        self._uid = uid or ""
        head = await self._head()
        self._uid = self._reader.uid = head.thread.uid
        if self._cursor > head.thread.head_version:
            raise ArgumentInvalidError(
                "after_version", f"the thread is at version {head.thread.head_version}; a cursor cannot be beyond it"
            )
        if self._run_version is not None and not await self._is_run(self._run_version):
            raise run_not_found(self._key, ids.run_id(self._uid, self._run_version))

    async def batches(self) -> Batches:
        # The end of a write that left the thread at rest: the terminal that may follow it is the last event of its version then.
        held: list[Event] = []
        while True:
            async for batch in self._replay():
                told = [*held, *batch]
                held = self._held(told)
                if len(told) > len(held):
                    yield told[: len(told) - len(held)]
            if self._is_over():
                return
            last = await self._at_head()
            told = [*_before(held, last or ()), *(last or ())]
            held = []
            if told:
                yield told
            if last is not None:
                return
            async for batch in self._live():
                held = self._held(batch)
                if len(batch) > len(held):
                    yield batch[: len(batch) - len(held)]
            if self._is_over():
                return

    def _held(self, batch: Sequence[Event]) -> list[Event]:
        """What of a batch waits for what follows it. Who follows the thread is given no terminal in its place."""
        return [event for event in batch[-1:] if not self._follow and event.last_of_version and _rests(event)]

    async def _replay(self) -> Batches:
        while True:
            entries = await self._read_log()
            if not entries:
                return
            if entries[0].checkpoint.version > self._cursor + 1 and (trimmed := await self._trimmed()):
                yield [trimmed]
            for entry in entries:
                events = await self._events(entry)
                self._note(events)
                batch = self._mine(events, live=False)
                self._cursor = entry.checkpoint.version
                self._reader.start_at(self._cursor)
                if batch:
                    yield batch
                if self._ended:
                    return

    async def _trimmed(self) -> Event | None:
        """What is to be said first where the log behind the cursor is gone."""
        oldest = (await self._head()).oldest_version
        if self._cursor + 1 >= oldest:
            return None
        now = self._storage.now_ms()
        return Event(self._key.thread_id, self._uid, "", self._cursor, False, now, LogTrimmed(oldest))

    async def _at_head(self) -> list[Event] | None:
        """What is left to say when the log is read: nothing yet (None), or the end of the watch."""
        head = await self._head()
        record = head.checkpoint
        if head.thread.head_version < self._cursor:
            # Deleted unseen, and taken back from an archive as it stood before.
            raise deleted(self._key.thread_id, self._uid)
        if record is not None and record.version > self._cursor:
            return None
        if record is None or self._follow:
            self._refuse_unseen()
            return None
        if self._run_version is not None and record.run_version != self._run_version:
            return await self._last_word()
        if record.status is not Status.IN_PROGRESS:
            return await self._terminal(head)
        self._refuse_unseen()
        if await is_alive(self._storage, self._key):
            return None
        head = await self._head()
        if head.thread.head_version == self._cursor and not await self._storage.recovery.expects(head):
            raise ThreadInterruptedError(self._key.thread_id, ids.run_id(self._uid, record.run_version))
        return None

    def _refuse_unseen(self) -> None:
        """Raises StorageUnavailableError where nothing is told of what others write."""
        if not self._storage.backend.leases.sees_all():
            raise StorageUnavailableError(
                "the storage was opened with mode=ro, and what goes on is not seen here; watch through the server that owns it"
            )

    async def _live(self) -> Batches:
        batch, behind = list[Event](), False
        while True:
            fresh = self._ready()
            mine = self._mine(fresh, live=True)
            for event in mine:
                if event.last_of_version:
                    self._cursor = event.version
            if mine:
                yield mine
            # Another server has the thread, and what it wrote is in the log; or what lies before these is.
            look = behind or (batch and self._early)
            if look or self._ended or any(map(_rests, fresh)):
                return
            batch = await self._reader.take(self._storage.tuning.heartbeat_s)
            behind = self._reader.is_behind()
            if not batch and not behind:
                yield [self._beat()]
            self._early += batch

    def _ready(self) -> list[Event]:
        """What came and may be told now; the rest waits until the log was read."""
        fresh = [event for event in self._early if self._is_fresh(event)]
        ready = self._reached(fresh)
        self._early = fresh[ready:]
        return fresh[:ready]

    def _is_over(self) -> bool:
        return self._ended

    def _reached(self, events: list[Event]) -> int:
        """How many of these follow the cursor with no version between, which then is in the log."""
        known = self._cursor
        for place, event in enumerate(events):
            if event.payload.logged:
                if event.version > known + 1:
                    return place
                known = event.version
            elif isinstance(event.payload, _OF_A_TEXT) and event.version > known:
                return place
        return len(events)

    def _is_fresh(self, event: Event) -> bool:
        if event.thread_uid not in ("", self._uid):
            return False
        payload = event.payload
        if isinstance(payload, _OF_A_TEXT) and path_of(payload.message_id):
            # Others of its step may have written since, and it goes on.
            return event.version >= self._began and payload.message_id not in self._written_inside
        return event.version > self._cursor if payload.logged else event.version >= self._cursor

    def _note(self, events: Sequence[Event]) -> None:
        """Keep in mind which text of agents inside nodes is over, of what is queued from before the log was read."""
        for event in events:
            payload = event.payload
            if isinstance(payload, RunStarted) or payload.terminal:
                self._began = event.version
                self._written_inside.clear()
            elif isinstance(payload, CheckpointWritten):
                self._written_inside.update(each.message.id for each in payload.node_messages)

    def _mine(self, events: list[Event], *, live: bool) -> list[Event]:
        """The events of what is watched, cut after the terminal that ends it."""
        mine: list[Event] = []
        run = ids.run_id(self._uid, self._run_version) if self._run_version is not None else None
        for event in events:
            if run is not None and event.run_id not in ("", run):
                continue
            mine.append(event)
            if event.payload.terminal:
                self._said = event.version
                if run is not None or (live and not self._follow):
                    self._ended = True
                    break
        return mine

    async def _events(self, entry: LogEntry) -> list[Event]:
        waiting: list[Approval] = []
        logged = read_entry(entry)
        for approval_id in logged.body.waiting:
            found = await self._storage.backend.approvals.get_approval(self._key.tenant, approval_id)
            if found is not None and found.key == self._key:
                waiting.append(view_approval(found))
        return events_of(self._key, self._uid, logged, waiting)

    async def _terminal(self, head: Head) -> list[Event]:
        """The head's terminal, unless the replay has just said it."""
        record = head.checkpoint
        assert record is not None
        if self._said == record.version:
            return []
        messages = await self._storage.backend.messages.list_messages(self._key, newest_first=True, limit=20)
        spoken = [view_message(each) for each in reversed(messages) if each.role == "assistant"]
        waiting = [view_approval(each) for each in head.pending]
        payload = terminal_of(self._key, self._uid, record, decode_body(record.body), spoken, waiting)
        run = ids.run_id(self._uid, record.run_version)
        return [Event(self._key.thread_id, self._uid, run, record.version, True, record.created_at_ms, payload)]

    async def _last_word(self) -> list[Event]:
        """The newest terminal of a run that is not the head's any more."""
        assert self._run_version is not None
        cursor, found = self._run_version - 1, list[Event]()
        while True:
            entries = await self._storage.backend.threads.read_log(
                self._key, self._uid, after_version=cursor, limit=_PAGE, max_bytes=_PAGE_BYTES
            )
            if not entries:
                if not found:
                    # It died, and another run has the thread now.
                    raise ThreadInterruptedError(self._key.thread_id, ids.run_id(self._uid, self._run_version))
                return found
            for entry in entries:
                cursor = entry.checkpoint.version
                if entry.checkpoint.run_version == self._run_version and ends_attempt(entry.checkpoint):
                    found = (await self._events(entry))[-1:]

    async def _is_run(self, version: int) -> bool:
        # Of a run that began below where the log begins something is left only where the oldest is of it.
        at = max(version, (await self._head()).oldest_version)
        record = await self._storage.backend.threads.get_checkpoint(self._key, at)
        return record is not None and record.run_version == version

    async def _read_log(self) -> list[LogEntry]:
        try:
            return list(
                await self._storage.backend.threads.read_log(
                    self._key, self._uid, after_version=self._cursor, limit=_PAGE, max_bytes=_PAGE_BYTES
                )
            )
        except ThreadMissing:
            head = await self._storage.backend.threads.get_head(self._key)
            raise not_watched(self._key.thread_id, self._uid, head) from None

    async def _head(self) -> Head:
        head = await self._storage.backend.threads.get_head(self._key)
        if head is None or (self._uid and head.thread.uid != self._uid):
            raise not_watched(self._key.thread_id, self._uid, head)
        return head

    def _beat(self) -> Event:
        live = self._storage.live.get(self._key)
        run = live.thread.run_id if live else ""
        now = self._storage.now_ms()
        return Event(self._key.thread_id, self._uid, run, self._cursor, False, now, Heartbeat())


def _before(held: Sequence[Event], last: Sequence[Event]) -> list[Event]:
    """What was held, before what follows it: a version has one last event."""
    return [
        replace(event, last_of_version=False) if any(each.version == event.version for each in last) else event
        for event in held
    ]


def _rests(event: Event) -> bool:
    """Whether a write left the thread at rest without a terminal of its own: a fork, or a write from outside."""
    payload = event.payload
    return isinstance(payload, CheckpointWritten) and payload.checkpoint.status is not Status.IN_PROGRESS
