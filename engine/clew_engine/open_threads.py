"""A thread that is held by its lease: its head, transcript and state at hand, and the one way to write to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine import ids
from clew_engine.approvals import Approval, view_approval
from clew_engine.checkpoints import Body, Checkpoint, decode_body, view_checkpoint
from clew_engine.drafts import Built, Draft, build
from clew_engine.errors import StateTooLargeError, expect_version
from clew_engine.events import Event, Payload
from clew_engine.growing_state import GrowingState
from clew_engine.incarnations import Deleted
from clew_engine.log_events import Logged, events_of, view_message
from clew_engine.transcripts import Transcript
from clew_engine.warm_threads import Mark
from clew_storage import (
    ApprovalRecord,
    CheckpointRecord,
    Grant,
    Head,
    LeaseLost,
    RequestRecord,
    StateChange,
    Status,
    StorageError,
    ThreadInfo,
    ThreadKey,
    Write,
)

if TYPE_CHECKING:
    from clew_engine.storage import Storage


class OpenThread:
    """One thread under one grant. Drafts get their versions in the order in which they are submitted."""

    def __init__(self, storage: Storage, grant: Grant, found: Head | None) -> None:
        self._storage = storage
        self._grant = grant
        self._was_there = found is not None
        self._head_epoch = found.thread.epoch if found else 0
        self._transcript: Transcript | None = None
        self._state: GrowingState | None = None
        self._applied: tuple[StateChange, GrowingState] | None = None
        self._behind: asyncio.Task[Checkpoint] | None = None
        self.key: ThreadKey = grant.key
        self.uid = found.thread.uid if found else ids.new_uid()
        self.info: ThreadInfo | None = found.thread.info if found else None
        self.head: CheckpointRecord | None = found.checkpoint if found else None
        self.body: Body = decode_body(self.head.body) if self.head else Body()
        # The head's run; empty before the first.
        self.run_id = ids.run_id(self.uid, self.head.run_version) if self.head else ""
        self.pending: tuple[ApprovalRecord, ...] = found.pending if found else ()
        self.cancel_requested = False
        self.at_rest: Callable[[], Awaitable[None]] | None = None

    @property
    def version(self) -> int:
        """The head's version; 0 for a thread without checkpoints."""
        return self.head.version if self.head else 0

    @property
    def status(self) -> Status | None:
        """The head's status."""
        return self.head.status if self.head else None

    @property
    def next_position(self) -> int:
        """The first free place of the transcript."""
        return self.head.next_position if self.head else 0

    @property
    def transcript(self) -> Transcript:
        """The messages of the head's line; `load` comes first."""
        assert self._transcript is not None, "load() first"
        return self._transcript

    @property
    def state(self) -> GrowingState:
        """The state at the head; `load` comes first."""
        assert self._state is not None, "load() first"
        return self._state

    def changed(self, change: StateChange | None) -> GrowingState:
        """The state after a change; applied once, also where the change is submitted next. Raises StateTooLargeError."""
        if change is None:
            return self.state
        if self._applied is None or self._applied[0] is not change:
            self._applied = (change, self.state.after(change))
        after = self._applied[1]
        limit = self._storage.tuning.state_limit
        if after.size > limit:
            raise StateTooLargeError("the state", after.size, limit, "state_json")
        return after

    def view(self) -> Checkpoint:
        """The head as a checkpoint."""
        assert self.head is not None
        return view_checkpoint(self.key.thread_id, self.uid, self.head, self.body)

    def expect(self, version: int | None) -> None:
        """Raises VersionConflictError when the head is not at the version that a caller expects."""
        expect_version(self.key.thread_id, version, self.version)

    async def load(self) -> None:
        """Bring transcript and state to memory, from the cache where it is at this very version."""
        await self.load_state()
        if self._transcript is None:
            records = await self._storage.backend.messages.list_messages(self.key)
            self._transcript = Transcript(map(view_message, records), sum(len(record.body) for record in records))

    async def load_state(self) -> None:
        """Bring the state to memory, and the transcript only where the cache has it."""
        self.warm()
        if self._state is None:
            self._state = GrowingState(await self._storage.backend.threads.get_state(self.key, version=None) or {})

    def warm(self) -> None:
        """Take transcript and state from the cache where it has them, so that a write does not make them stale."""
        if self._state is not None:
            return
        cached = self._storage.warm.take(self.key, self._mark)
        if cached is not None:
            self._transcript, self._state = cached[0], GrowingState(cached[1])
        elif self.head is None:
            self._transcript, self._state = Transcript(), GrowingState({})

    def submit(
        self, draft: Draft, request: RequestRecord | None = None, info: ThreadInfo | None = None
    ) -> asyncio.Task[Checkpoint]:
        """Give a draft its version and send it on its way; the task ends when it is durable and its events are out.

        Raises at once, with nothing taken, what the draft itself breaks. Several may be under way: they commit in order, or together.
        """
        built = build(draft, self.key, self.uid, self.head, self._storage.now_ms(), self._storage.tuning.message_limit)
        if draft.state is not None and self._state is not None:
            self._state, self._applied = self.changed(draft.state), None
        write = Write(
            key=self.key,
            uid=self.uid,
            epoch=self._grant.epoch,
            expected_version=self.version,
            checkpoint=built.checkpoint,
            info=info,
            messages=built.records,
            erased=tuple(message.id for message in draft.erased),
            redactions=draft.redactions,
            state=draft.state,
            approvals=built.approvals,
            decisions=draft.decisions,
            void_approvals=draft.void_approvals,
            request=replace(request, uid=self.uid, version=built.checkpoint.version) if request else None,
            fork_of=draft.fork_of.version if draft.fork_of else None,
            head_epoch=self._head_epoch,
        )
        waiting = [view_approval(record) for record in self.pending if record.id in draft.waiting]
        before = self.pending
        self._advance(draft, built)
        entry = Logged(built.checkpoint, self.body, built.messages, built.approvals)
        self._behind = self._storage.spawn(self._persist(write, entry, waiting, before, self._behind))
        return self._behind

    async def commit(
        self, draft: Draft, request: RequestRecord | None = None, info: ThreadInfo | None = None
    ) -> Checkpoint:
        """Submit and wait; the wait may be cancelled, the write is not."""
        return await asyncio.shield(self.submit(draft, request, info))

    async def settle(self) -> None:
        """Wait for every write that was submitted. Raises what the last one raised."""
        if self._behind is not None:
            await asyncio.shield(self._behind)

    def emit(self, payload: Payload) -> None:
        """Tell live readers something that is not in the log; it carries the last version as its cursor."""
        event = Event(self.key.thread_id, self.uid, self.run_id, self.version, False, self._storage.now_ms(), payload)
        self._storage.hub.publish(self.key, [event], self.epoch)

    @property
    def epoch(self) -> int:
        """The lease's: of two servers that write to a thread the larger one is right."""
        return self._grant.epoch

    @property
    def _mark(self) -> Mark:
        return Mark(self.uid, self._head_epoch, self.version)

    @property
    def is_held(self) -> bool:
        """Whether the lease is still this thread's."""
        return self._storage.backend.leases.holds(self._grant)

    async def firmly(self) -> None:
        """Wait until the lease is sure to last for a while: what has effects outside is begun only then. Raises LeaseLost."""
        leases = self._storage.backend.leases
        while not leases.holds_firmly(self._grant):
            if not self.is_held:
                await self._refuse_deleted()
                raise LeaseLost(f"the lease of thread {self.key.thread_id} was lost")
            await asyncio.sleep(self._storage.tuning.look_s)

    async def let_go(self) -> None:
        """Release the lease; the next who waits gets it."""
        await self._storage.backend.leases.release(self._grant)

    def keep(self) -> None:
        """Leave transcript and state in the cache for the next holder of the lease."""
        if self._transcript is not None and self._state is not None and self.head is not None:
            self._storage.warm.put(self.key, self._mark, self._transcript, dict(self._state))

    async def _refuse_deleted(self) -> None:
        """Raises Deleted where the lease was lost with the thread, and not to another server."""
        head = await self._storage.backend.threads.get_head(self.key)
        # A thread that was not there, and of which nothing was written, cannot be gone: another server has its lease, or a crash of
        # the database took the grant back.
        if (self._was_there or self.version) and (head is None or head.thread.uid != self.uid):
            raise Deleted(self.uid, head) from None

    def _advance(self, draft: Draft, built: Built) -> None:
        self._head_epoch = max(self._head_epoch, self.epoch)
        self.head = built.checkpoint
        self.body = decode_body(built.checkpoint.body)
        self.run_id = ids.run_id(self.uid, built.checkpoint.run_version)
        if self._transcript is not None and draft.fork_of is None:
            for message, record in zip(built.messages, built.records, strict=True):
                self._transcript.put(message, len(record.body))
            for message in draft.erased:
                self._transcript.remove(message)
        decided = {decision.approval_id for decision in draft.decisions}
        kept = () if draft.void_approvals else self.pending
        self.pending = tuple(record for record in kept if record.id not in decided) + built.approvals

    async def _persist(
        self,
        write: Write,
        entry: Logged,
        waiting: Sequence[Approval],
        before: Sequence[ApprovalRecord],
        earlier: asyncio.Task[Checkpoint] | None,
    ) -> Checkpoint:
        try:
            written = await self._storage.backend.threads.append(write)
        except StorageError as error:
            if earlier is not None:
                # A write that stands on one that failed fails too; what is told is why the first one did.
                await earlier
            if isinstance(error, LeaseLost):
                await self._refuse_deleted()
            raise
        if earlier is not None:
            await earlier
        self.cancel_requested = written.cancel_requested
        self.info = written.thread.info
        if self.at_rest is not None and entry.record.status is not Status.IN_PROGRESS:
            # Who reads the terminal may call again at once: by then the thread is free.
            await self.at_rest()
        self._storage.hub.publish(self.key, events_of(self.key, self.uid, entry, waiting), self.epoch)
        self._storage.approval_feed.note(self.key, written.thread.info, write, before)
        return view_checkpoint(self.key.thread_id, self.uid, entry.record, entry.body)
