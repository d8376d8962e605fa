"""What other servers do on a shared database: threads that are watched here are looked at, and runs here hear of cancels and lost leases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from clew_engine.errors import LeaseLostError
from clew_engine.incarnations import deleted
from clew_engine.stops import Attempt, attempt_at, leave_word
from clew_engine.troubles import Trouble
from clew_storage import Glance, Status, StorageError, ThreadKey

if TYPE_CHECKING:
    from clew_engine.hub import Subscription
    from clew_engine.runs import Run
    from clew_engine.storage import Storage

_RUN = "run"


class Lookout:
    """One question to the database for all threads that matter here, again and again while there are any.

    On a database that this process has for itself it never asks.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._task: asyncio.Task[None] | None = None
        self._seen: dict[ThreadKey, Glance] = {}
        self._trouble = Trouble("other servers' writes could not be looked for")

    def wake(self) -> None:
        """There is something to look at."""
        if self._storage.backend.shared and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._look(), name="clew-lookout")

    async def close(self) -> None:
        """Stop looking."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _look(self) -> None:
        while (readers := self._storage.hub.readers_of()) or self._storage.live:
            # What is seen is judged by what was known when it was asked for: a run may have begun since, and ended.
            runs = {key: (run, run.began > 0) for key, run in self._storage.live.items()}
            others = {key: some for key, some in readers.items() if key not in runs}
            try:
                glances = await self._storage.backend.threads.glance([*(readers.keys() | runs.keys())])
            except StorageError as error:
                self._trouble.met(error)
            else:
                self._trouble.over()
                for key, (run, began) in runs.items():
                    self._heed(run, glances[key], began=began)
                for key, some in others.items():
                    self._tell(key, some, glances[key])
                # Of a run that has ended meanwhile nobody was told what others did after it.
                self._seen = {key: glances[key] for key in readers if key in others or key in self._storage.live}
            await asyncio.sleep(self._storage.tuning.look_s)

    def _heed(self, run: Run, glance: Glance, *, began: bool) -> None:
        """A run of this server: whether it may go on. `began`: its thread was there when it was looked at."""
        thread = run.thread
        if not thread.is_held:
            give_up(run, glance.uid if began else thread.uid)
        elif glance.cancel_requested and glance.uid == thread.uid and 0 < run.began <= glance.head_version:
            run.stop("cancelled", "the run was cancelled")

    def _tell(self, key: ThreadKey, readers: Iterable[Subscription], glance: Glance) -> None:
        """Readers of a thread: those of an incarnation that is gone end, the others look themselves when it may have changed."""
        if key in self._storage.live:
            return
        seen = self._seen.get(key)
        for reader in readers:
            if reader.uid and reader.uid != glance.uid:
                reader.fail(deleted(key.thread_id, reader.uid))
            elif seen != glance:
                reader.nudge()


async def is_alive(storage: Storage, key: ThreadKey) -> bool:
    """Whether some server has a run of the thread under way."""
    if storage.running(key) is not None:
        return True
    if not storage.backend.shared:
        return False
    holder = (await storage.backend.threads.glance([key]))[key].holder
    return holder is not None and holder.purpose == _RUN


async def remote_run(storage: Storage, key: ThreadKey) -> Attempt | None:
    """The attempt that another server has under way, or None."""
    if storage.running(key) is not None or not await is_alive(storage, key):
        return None
    head = await storage.backend.threads.get_head(key)
    if head is None or head.checkpoint is None or head.checkpoint.status is not Status.IN_PROGRESS:
        return None
    return attempt_at(head.thread.uid, head.checkpoint)


async def keep_stopping(storage: Storage, key: ThreadKey) -> None:
    """Whatever other servers run of the thread is asked to stop, until this is cancelled."""
    while True:
        run = await remote_run(storage, key)
        if run is not None:
            await leave_word(storage, key, run, None)
        await asyncio.sleep(storage.tuning.look_s)


def give_up(run: Run, uid: str) -> None:
    """Tell a run that its lease is gone; `uid` is of the thread that its id names now."""
    thread = run.thread
    is_there = uid == thread.uid or not run.began
    run.abandon(lost(thread.key.thread_id) if is_there else deleted(thread.key.thread_id, thread.uid))


def lost(thread_id: str) -> LeaseLostError:
    """What a run is told whose lease is not this server's any more."""
    return LeaseLostError(
        f"this server could not renew its lease of thread {thread_id!r} in time, so another may have taken the thread over; nothing more was "
        "written. Watch the thread, and retry what was interrupted",
        thread_id=thread_id,
    )
