"""`Storage`: the handle over a database that applies the rules of threads. Agents and servers share one."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

from msgspec.structs import replace

from clew_engine import commands, incidents
from clew_engine.amounts import LONGEST_WAIT_S
from clew_engine.approval_feed import ApprovalFeed
from clew_engine.archives import ArchiveFile, Exported, Imported, Progress, selection_of
from clew_engine.argument_checks import checked
from clew_engine.arrivals import Arrivals
from clew_engine.beside import exchange_of, open_beside
from clew_engine.blocking import blocking
from clew_engine.cache import Cache
from clew_engine.call_desk import CallDesk
from clew_engine.checkpoints import Checkpoint, view_checkpoint
from clew_engine.errors import ArgumentInvalidError, StorageUnavailableError, StreamCutError, expect_version
from clew_engine.hub import Hub
from clew_engine.ids import check_id
from clew_engine.inbox import Approvals
from clew_engine.incarnations import not_repeated, not_told_again
from clew_engine.leasing import BusyWait, is_void
from clew_engine.listings import Threads
from clew_engine.lookout import Lookout, give_up
from clew_engine.open_threads import OpenThread
from clew_engine.options import OnBusy, Recover, RunOptions, Tuning, on_busy_of, recover_of
from clew_engine.page_tokens import PageTokens
from clew_engine.program import Program
from clew_engine.recovery import Recovery
from clew_engine.retention import Retention, Retired, retire
from clew_engine.runs import Run
from clew_engine.setting_up import set_up
from clew_engine.storage_errors import translated
from clew_engine.stored_threads import StoredThread
from clew_engine.sweep import settle, sweep
from clew_engine.troubles import Trouble
from clew_engine.warm_threads import WarmThreads
from clew_engine.worker_sessions import Workers
from clew_storage import (
    Backend,
    FormatChange,
    Grant,
    Head,
    StorageAway,
    StorageError,
    StorageRefused,
    StorageStats,
    ThreadKey,
    open_storage,
)

T = TypeVar("T")


def _system_clock() -> int:
    return time.time_ns() // 1_000_000


class Storage:
    """One database, opened at its first use. `url` as `clew_storage.open_storage` takes it; None is the default SQLite file.

    `redis` is what may stand beside it: a URL, a `redis.asyncio.Redis`, a `redis.asyncio.ConnectionPool`, or `RedisSettings` of one of these.

    Threads, `approvals`, memory and the `cache` are shared by everything that is built on the same Storage. Close it, or use it as an async context manager.
    With `recover="auto"` runs that died are gone on with by themselves, of the agents and workflows that have had a thread made on it.
    It is of use without an agent or workflow, too: `thread(id)`, `threads.list()`, `approvals.list()` and `cache` read and write what is stored.
    """

    def __init__(
        self,
        url: str | None | Backend = None,
        *,
        on_busy: OnBusy | str = OnBusy.WAIT,
        busy_timeout: float = 60.0,
        recover: Recover | str = Recover.MANUAL,
        tuning: Tuning | None = None,
        clock: Callable[[], int] = _system_clock,
        redis: object = None,
    ) -> None:
        self.tuning = tuning or Tuning(
            on_busy=on_busy_of(on_busy) or OnBusy.WAIT, busy_timeout_s=busy_timeout, recover=recover_of(recover)
        )
        if url is not None and not isinstance(url, str) and not hasattr(url, "threads"):
            raise ArgumentInvalidError("url", f"the URL of a database is due here, not {type(url).__name__}")
        self.backend: Backend = _backend_of(url) if url is None or isinstance(url, str) else url
        self.beside = open_beside(redis)
        if self.beside is not None:
            self.backend = self.beside.around(self.backend)
        self.now_ms = clock
        self.hub = Hub(self.tuning.reader_bytes)
        self.lookout = Lookout(self)
        self.recovery = Recovery(self)
        self.hub.watched = self.lookout.wake
        self.exchange = exchange_of(self)
        self.desk, self._owns_desk = CallDesk(self), True
        self.workers = Workers(self)
        self.approval_feed = ApprovalFeed()
        self.approvals = Approvals(self)
        self.cache = Cache(self)
        self.threads = Threads(self)
        self.page_tokens = PageTokens(self)
        self.values_swept_at_ms = 0
        self.warm = WarmThreads(self.tuning.cache_bytes)
        self.live: dict[ThreadKey, Run] = {}
        self.interrupters: Counter[ThreadKey] = Counter()
        self.arrivals = Arrivals(clock)
        self.programs: dict[str, Program] = {}
        self.draining = False
        self._closed = False
        self.scratches: set[Storage] = set()
        self.waiting: set[asyncio.Future[Grant]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._opening: asyncio.Task[None] | None = None
        self._change: FormatChange | None = None
        self._migration_wait_s: float | None = None
        self._setting_up: asyncio.Task[FormatChange] | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    @checked
    def thread(
        self,
        thread_id: str,
        actor: str | None = None,
        *,
        tenant: str = "",
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
    ) -> StoredThread:
        """A handle on a thread, whatever its app is. It reads and writes; what sends, decides or retries is the app's."""
        key = ThreadKey(tenant, check_id(thread_id, "thread_id"))
        return StoredThread(self, key, actor=actor or "", on_busy=on_busy, busy_timeout=busy_timeout)

    @checked
    async def setup(self, *, timeout: float = 10.0) -> FormatChange:  # noqa: ASYNC109 - it bounds the wait for others, not the work
        """Make the database where there is none, and run the migrations that it has not had; any number of processes may do so at a time.

        Each waits for its turn, up to `timeout` seconds (0 to 86,400), and leaves the file free for the next. Raises StorageUnavailableError where it stays in use
        by another process (a server has set it up itself), with that one's pid. Of a Storage that is open nothing is left to do. It need not be
        called: whoever opens a database sets it up. Returns the format that was found (0: none), and the one that there is now; of a Storage that
        was open those of its opening.
        """
        if not 0 <= timeout <= LONGEST_WAIT_S:
            raise ArgumentInvalidError("timeout", f"0 to {LONGEST_WAIT_S:,} seconds")
        while self._setting_up is not None:
            await asyncio.wait({self._setting_up})
        if self._opening is not None or self.backend.shared:
            self._migration_wait_s = timeout
            await self.open()
            assert self._change is not None
            return self._change
        self._setting_up = asyncio.get_running_loop().create_task(set_up(self.backend.url, timeout_s=timeout))
        try:
            return await self._setting_up
        except StorageError as error:
            raise translated(error, None) from error
        finally:
            self._setting_up = None

    async def open(self) -> Self:
        """Open the database now rather than at the first use, or again after it was closed. Raises StorageUnavailableError with the reason."""
        self._closed = False
        while self._setting_up is not None:
            await asyncio.wait({self._setting_up})
        running = asyncio.get_running_loop()
        if self._opening is None:
            self.loop = running
            if self.exchange is not None:
                self.exchange.open()
            self._opening = running.create_task(self._open_backend())
        elif self.loop is not running:
            self._opening = running.create_task(self._move(running))
        opening = self._opening
        if not opening.done():
            # A caller that gives up does not end the opening, for which others wait.
            await asyncio.wait({opening})
        try:
            opening.result()
        except StorageError as error:
            if self._opening is opening:
                self._opening = None
            raise translated(error, None) from error
        if self._sweeper is None and any(each.approval_ttl_s is not None for each in self.programs.values()):
            self._sweeper = self.loop.create_task(self._sweep()) if self.loop else None
        self.recovery.begin()
        return self

    async def _open_backend(self) -> None:
        self._change = await self.backend.open(wait_s=self._migration_wait_s)

    async def _move(self, running: asyncio.AbstractEventLoop) -> None:
        """Go on in another event loop, as a script does that calls `asyncio.run` twice."""
        if self.loop is not None and not self.loop.is_closed():
            raise ArgumentInvalidError(
                "storage",
                "it is in use by another event loop (blocking forms have one of their own); "
                "use one form throughout, or a Storage for each",
            )
        self.loop = running
        self.hub, self.approval_feed = Hub(self.tuning.reader_bytes), ApprovalFeed()
        self.lookout, self.recovery = Lookout(self), Recovery(self)
        self.hub.watched = self.lookout.wake
        if self.exchange is not None:
            self.exchange.close()
            self.exchange.open()
        self.warm = WarmThreads(self.tuning.cache_bytes)
        self.live, self.arrivals, self.interrupters = {}, Arrivals(self.now_ms), Counter()
        self._tasks, self._sweeper = set(), None
        await self.backend.reopen()

    def scratch(self) -> Storage:
        """Where one run without a thread is while it lasts: in memory, whatever this database is. Whoever asks closes it."""
        tuning = replace(self.tuning, recover=Recover.MANUAL)
        scratch = Storage("memory://", tuning=tuning, clock=self.now_ms)
        scratch.share_desk(self)
        scratch.draining = self.draining
        self.scratches.add(scratch)
        return scratch

    def share_desk(self, other: Storage) -> None:
        """Calls of tools that workers run are handed on there: to where the workers come, also for runs that nothing is kept of."""
        self.desk, self._owns_desk = other.desk, False

    def know(self, program: Program) -> None:
        """Programs that may go on by themselves, when an approval of theirs expires."""
        self.programs[program.name] = program

    async def drain(self, grace_s: float) -> None:
        """Take no new runs, tell those that wait for a thread, give those under way the grace to end, then end every stream with its cursor."""
        all_of_it = (self, *self.scratches)
        for storage in all_of_it:
            storage.draining = True
        for waiting in tuple(self.waiting):
            waiting.cancel()
        ended = [run.ended for storage in all_of_it for run in storage.live.values()]
        if ended and grace_s > 0:
            await asyncio.wait(ended, timeout=grace_s)
        for storage in all_of_it:
            storage.hub.fail_all("the server is shutting down")
        self.approval_feed.end("the server is shutting down")
        self.workers.end("the server is shutting down")

    async def aclose(self) -> None:
        """Stop what runs (it stays as interrupted, for a retry) and let the database go. Harmless when called twice, or before any use.

        It stays closed: verbs are refused with StorageUnavailableError until `open` (or an `async with`) opens it again.
        """
        self._closed = True
        for scratch in tuple(self.scratches):
            await scratch.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.wait({self._sweeper})
            self._sweeper = None
        await self.recovery.close()
        await self.lookout.close()
        if self._owns_desk:
            await self.desk.close()
        if self.exchange is not None:
            self.exchange.close()
        for run in tuple(self.live.values()):
            run.abandon(StreamCutError(run.thread.version, "the storage is closing"))
        await asyncio.gather(*(asyncio.shield(run.ended) for run in tuple(self.live.values())))
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))
        for program in self.programs.values():
            await program.close()
        if self._opening is not None:
            await self.backend.close()
            self._opening = None

    @checked
    async def export(
        self,
        file: ArchiveFile,
        *,
        threads: Sequence[str] = (),
        tenant: str | None = None,
        app: str = "",
        user_id: str | int | None = None,
        status: str = "",
        resume: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write threads with everything to a file that `import_` of any other database takes: all of them, those that are named, or those that meet all that is asked.

        Each is as it stands at one moment, also while it runs; nobody waits for it. `file` is a name (of a new file; compressed where it ends with
        `.gz`) or a binary stream. `resume` goes on with a file whose export was stopped. Raises ThreadNotFoundError, DataCorruptError, ArgumentInvalidError.
        """
        selection = selection_of(tenant, tuple(threads), app, user_id, status)
        return await commands.export(self, file, selection, go_on=resume, progress=progress)

    @checked
    async def import_(self, file: ArchiveFile, *, dry_run: bool = False, progress: Progress | None = None) -> Imported:
        """Make the threads of an archive, each all or nothing. Those that are here already, just as they are, are skipped: so it can be asked again where it was stopped.

        Raises DataCorruptError (of a file by its name before anything is written) and ThreadExistsError. With `dry_run` nothing is written.
        """
        return await commands.import_(self, file, dry_run=dry_run, progress=progress)

    @checked
    async def stats(self, largest: int = 10) -> StorageStats:
        """How many threads there are and how many bytes of each kind, with the largest threads. Counts every row, and reads no payload."""
        if largest < 0:
            raise ArgumentInvalidError("largest", "0 or more threads")
        async with self.calling(None):
            return await self.backend.sizes.stats(largest=largest)

    # The client's word for it.
    close = aclose
    export_sync = blocking(export)
    import_sync = blocking(import_)
    stats_sync = blocking(stats)
    open_sync = blocking(open)  # noqa: A003 - the method is meant
    setup_sync = blocking(setup)
    aclose_sync = blocking(aclose)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @asynccontextmanager
    async def calling(self, key: ThreadKey | None) -> AsyncGenerator[None, None]:
        """The frame of every call: the database is open, and what it raises is told in the engine's words."""
        if self._closed:
            raise StorageUnavailableError("the storage was closed; `open` opens it again, and so does `async with`")
        await self.open()
        try:
            yield
        except StorageError as error:
            raise translated(error, key) from error

    @asynccontextmanager
    async def holding(self, key: ThreadKey, options: RunOptions) -> AsyncGenerator[OpenThread, None]:
        """The thread under its lease, for a write that is no run; a busy thread is waited for as the options say."""
        wait = BusyWait(self, key, options, "write")
        grant = await wait.try_now() or await wait.acquire()
        try:
            while is_void(grant, head := await self.backend.threads.get_head(key)):
                await self.backend.leases.release(grant)
                grant = await wait.acquire()
            yield OpenThread(self, grant, head)
        finally:
            await asyncio.shield(self.spawn(self.backend.leases.release(grant)))

    async def expect(self, key: ThreadKey, version: int | None) -> None:
        """Raises VersionConflictError when the thread is not at the version that a caller expects (None: any)."""
        if version is not None:
            head = await self.backend.threads.get_head(key)
            expect_version(key.thread_id, version, head.thread.head_version if head else 0)

    async def written(self, key: ThreadKey, found: tuple[str, int]) -> Checkpoint:
        """The checkpoint that a recorded mutation wrote. Raises ThreadNotFoundError when its thread was deleted since, CheckpointNotFoundError when that was trimmed."""
        uid, version = found
        record = await self.backend.threads.get_checkpoint(key, version)
        # After the record: a thread that is there now was there then.
        head = await self.backend.threads.get_head(key)
        if head is None or head.thread.uid != uid:
            raise not_repeated(key.thread_id, uid, head)
        if record is None:
            raise not_told_again(key.thread_id, uid, version)
        return view_checkpoint(key.thread_id, uid, record)

    def running(self, key: ThreadKey, head: Head | None = None) -> Run | None:
        """The run of the thread that this server has under way. One that lost its lease, and was not told so yet, is none: others have the thread.

        That its lease is lost may also be seen by a head that was read: whoever wrote it had a later one. Then the run is told.
        """
        run = self.live.get(key)
        if run is None or run.abandoned or not run.thread.is_held:
            return None
        if head is not None and head.thread.epoch > run.thread.epoch:
            give_up(run, head.thread.uid)
            return None
        return run

    async def release(self, run: Run) -> None:
        """A run is over: its lease goes to the next. Harmless when called twice."""
        if run.ended.done():
            return
        if self.live.get(run.thread.key) is run:
            del self.live[run.thread.key]
        try:
            await run.thread.let_go()
        except StorageAway:
            # It is given back later, or runs out.
            pass
        except StorageError as error:
            incidents.of_the_storage(error, run.thread.key.thread_id)
        finally:
            if not run.ended.done():
                run.ended.set_result(None)

    def retire(self, retention: Retention, *, dry_run: bool = False) -> AsyncGenerator[Retired, None]:
        """Delete and trim what a retention says, and tell of each as it goes; with `dry_run` of what would go, and nothing does."""
        return retire(self, retention, dry_run=dry_run)

    async def settle_expired(self, key: ThreadKey) -> bool:
        """End now what the thread waits for and has expired, as the sweep would a little later; whether there was anything."""
        return await settle(self, key)

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run something that no caller's cancellation may end."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    async def _sweep(self) -> None:
        trouble = Trouble("expired approvals could not be looked for")
        while True:
            await asyncio.sleep(self.tuning.sweep_s)
            try:
                await sweep(self)
            except StorageError as error:
                trouble.met(error)
            else:
                trouble.over()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever awaits the task has the error too; this only keeps asyncio from reporting it as never read.
            task.exception()


def _backend_of(url: str | None) -> Backend:
    """The backend that a URL names. Raises ArgumentInvalidError, with what to write instead, where it names none."""
    try:
        return open_storage(url)
    except StorageRefused as error:
        raise ArgumentInvalidError("url", str(error)) from None
