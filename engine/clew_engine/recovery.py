"""Recovery: runs that died are taken up by themselves, by a process that has their app."""

from __future__ import annotations

import asyncio
import logging
import random
from itertools import takewhile
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.attempts import RECOVER, Attempt, Opening
from clew_engine.commands.cancel import cancel
from clew_engine.commands.retry import continued
from clew_engine.errors import (
    ClewError,
    LeaseLostError,
    StreamCutError,
    ThreadBusyError,
    ThreadNotFoundError,
    UnavailableError,
    VersionConflictError,
)
from clew_engine.open_threads import OpenThread
from clew_engine.options import Mutation, OnBusy, OnDisconnect, Recover, RunOptions
from clew_engine.troubles import Trouble
from clew_storage import Head, Source, Status, StorageError, ThreadKey, ThreadRecord

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_log = logging.getLogger("clew.engine")
_PAGE = 100
# What one process takes up at a time; the rest is for the others, or for its next look.
_AT_A_TIME = 100
_OPTIONS = RunOptions(on_busy=OnBusy.REJECT, on_disconnect=OnDisconnect.CONTINUE)
# Somebody else was quicker: a person, a delete, another server.
_TOO_LATE = (ThreadBusyError, VersionConflictError, ThreadNotFoundError, LeaseLostError, StreamCutError)
# A head, by the thread's uid and its version.
Place = tuple[str, int]


class Recovery:
    """Looks for threads in progress that nobody holds, and retries each as a person would, under its lease.

    How often that came to nothing is in the log: an attempt that died before it wrote anything is a checkpoint of source
    `retry` with nothing after it. So all servers count the same, through every restart.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._task: asyncio.Task[None] | None = None
        # What is left to people, so that it is looked into once.
        self._left: dict[ThreadKey, Place] = {}

    def begin(self) -> None:
        """Look again and again from now on, where the storage is told to."""
        storage = self._storage
        if self._task is None and storage.tuning.recover is Recover.AUTO and storage.backend.leases.sees_all():
            self._task = asyncio.get_running_loop().create_task(self._look(), name="clew-recovery")

    async def close(self) -> None:
        """Stop looking."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def expects(self, head: Head) -> bool:
        """Whether a run that died at this head will be taken up here, if nobody is quicker."""
        storage, thread, record = self._storage, head.thread, head.checkpoint
        if self._task is None or storage.draining or record is None or record.status is not Status.IN_PROGRESS:
            return False
        if thread.info.app not in storage.programs or self._left.get(thread.key) == _place(thread):
            return False
        return head.cancel_requested or await self._tries(thread.key) < storage.tuning.recover_tries

    async def sweep(self) -> int:
        """Take up what has died, in no order and a hundred at most, so that several servers share it; how many were taken up."""
        storage, taken, after = self._storage, 0, None
        seen: set[ThreadKey] = set()
        while taken < _AT_A_TIME and not storage.draining:
            page = await storage.backend.threads.list_interrupted(tuple(storage.programs), after=after, limit=_PAGE)
            for thread in random.sample(page, len(page)):
                seen.add(thread.key)
                taken += await self._take_up(thread)
            if len(page) < _PAGE:
                self._left = {key: place for key, place in self._left.items() if key in seen}
                break
            after = page[-1].key
        return taken

    async def _look(self) -> None:
        storage, trouble = self._storage, Trouble("interrupted runs could not be looked for")
        while True:
            try:
                await self.sweep()
            except (StorageError, ClewError) as error:
                trouble.met(error)
            else:
                trouble.over()
            # Servers that were started together do not look together.
            await asyncio.sleep(storage.tuning.recover_s * random.uniform(0.5, 1.5))  # noqa: S311 - no secret

    async def _take_up(self, thread: ThreadRecord) -> bool:
        storage, key = self._storage, thread.key
        if key in storage.live or self._left.get(key) == _place(thread):
            return False
        try:
            begun = await self._go_on(thread)
        except _TOO_LATE:
            return False
        except UnavailableError:
            raise
        except ClewError as error:
            self._leave(thread, error.message)
            return False
        if begun:
            _log.info("an interrupted run of thread %s was taken up", key.thread_id)
        return begun

    async def _go_on(self, thread: ThreadRecord) -> bool:
        head = await self._storage.backend.threads.get_head(thread.key)
        if head is None or head.checkpoint is None or _place(head.thread) != _place(thread):
            return False
        if head.cancel_requested:
            run_id = ids.run_id(thread.uid, head.checkpoint.run_version)
            await cancel(self._storage, thread.key, run_id, mutation=_at(thread), options=_OPTIONS)
        elif await self._is_due(thread, head.checkpoint.created_at_ms):
            await self._retry(thread)
        else:
            return False
        return True

    async def _is_due(self, thread: ThreadRecord, since_ms: int) -> bool:
        """Whether it is time for another try: each that came to nothing doubles the pause before the next."""
        tuning = self._storage.tuning
        tries = await self._tries(thread.key)
        if tries >= tuning.recover_tries:
            self._leave(thread, f"{tries} attempts in a row ended before they had written anything")
            return False
        if not tries:
            return True
        pause_s: float = tuning.recover_pause_s * 2 ** (tries - 1)
        return self._storage.now_ms() >= since_ms + pause_s * 1000

    async def _tries(self, key: ThreadKey) -> int:
        """How many attempts, the newest ones, have come to nothing; counted as far as the limit."""
        newest = await self._storage.backend.threads.list_checkpoints(
            key, before_version=None, limit=self._storage.tuning.recover_tries
        )
        return sum(1 for _ in takewhile(lambda each: each.source is Source.RETRY, newest))

    async def _retry(self, found: ThreadRecord) -> None:
        storage, key, program = self._storage, found.key, self._storage.programs[found.info.app]

        def opening(thread: OpenThread) -> Opening:
            if thread.uid != found.uid:
                raise ThreadNotFoundError(key.thread_id)
            return continued(thread, program)

        stream = Attempt(storage, key, RECOVER, opening, _at(found), _OPTIONS).stream()
        try:
            # Its first events say that the attempt is on disk; the run goes on by itself.
            await anext(stream.batches(), None)
        finally:
            await stream.aclose()

    def _leave(self, thread: ThreadRecord, why: str) -> None:
        """To people, who may retry it; whoever watches is told that nothing comes by itself."""
        self._left[thread.key] = _place(thread)
        _log.error("the run of thread %s stays interrupted until someone retries it: %s", thread.key.thread_id, why)
        for reader in self._storage.hub.readers_of().get(thread.key, ()):
            reader.nudge()


def _place(thread: ThreadRecord) -> Place:
    return thread.uid, thread.head_version


def _at(thread: ThreadRecord) -> Mutation:
    """Whoever has written since was quicker."""
    return Mutation(expected_version=thread.head_version)
