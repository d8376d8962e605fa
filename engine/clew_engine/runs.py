"""A run under way: one attempt, in a task of its own that no stream and no handler owns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from clew_engine import ids, incidents
from clew_engine.approvals import Question
from clew_engine.checkpoints import Checkpoint, Failure, Memo
from clew_engine.drafts import Draft, DraftMessage
from clew_engine.errors import ClewError, StateTooLargeError, ThreadInterruptedError
from clew_engine.messages import Message, Usage
from clew_engine.models import ModelError
from clew_engine.open_threads import OpenThread
from clew_engine.options import Limits
from clew_engine.program import Program
from clew_engine.state import LazySequence, StateView
from clew_engine.storage_errors import translated
from clew_storage import LeaseLost, RequestRecord, Source, Status, StorageError

if TYPE_CHECKING:
    from clew_engine.storage import Storage

T = TypeVar("T")


class RunStopped(Exception):  # noqa: N818 - a way to stop, not a mistake
    """The run is to end now, as failed for this reason. `partial` is what was streamed of an unfinished message.

    `next` is what a retry goes on with, where that is not what the head says; `memos` what it is to know of the step.
    """

    def __init__(
        self,
        failure: Failure,
        partial: DraftMessage | None = None,
        next: Mapping[str, Any] | None = None,  # noqa: A002
        memos: tuple[Memo, ...] = (),
    ) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.partial = partial
        self.next = next
        self.memos = memos


class Run:
    """An attempt: it holds the lease, steps its program until the head is no longer in progress, and lets go."""

    def __init__(self, storage: Storage, thread: OpenThread, program: Program, limits: Limits, actor: str) -> None:
        self.storage = storage
        self.thread = thread
        self.program = program
        self.limits = limits
        self.actor = actor
        self.steps = 0
        self.tokens = 0
        # The version that the attempt opened with; 0 until that is written.
        self.began = 0
        # Whether it goes on with what another attempt had begun.
        self.resumes = False
        # What models used whose messages are not in the transcript: the program keeps it.
        self.used_apart = Usage()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stop_request: RequestRecord | None = None
        self._stop: Failure | None = None
        self._abandoned: Exception | None = None
        self._stopping: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._work: set[asyncio.Task[Any]] = set()
        thread.at_rest = self._rest

    @property
    def stopping(self) -> asyncio.Future[None]:
        """Done as soon as the run is asked to stop."""
        return self._stopping

    @property
    def stopped(self) -> bool:
        """Whether it was asked to end as failed, and not only to let go."""
        return self._stop is not None and self._abandoned is None

    @property
    def abandoned(self) -> bool:
        """Whether it was told that its lease is gone."""
        return self._abandoned is not None

    @property
    def grace_s(self) -> float:
        """How long work that was cancelled may take to end."""
        return self.storage.tuning.cancel_grace_s

    def state_view(self, state: Mapping[str, bytes] | None = None, said: Message | None = None) -> StateView:
        """The state (or what it is about to be), transcript (with a message that is about to be written) and counters."""
        thread = self.thread
        transcript = thread.transcript.before(thread.body.partial)
        messages = LazySequence((*transcript, said) if said else transcript, lambda message: message.as_dict())
        counters = {
            "run_id": thread.run_id,
            "step": thread.head.step if thread.head else 0,
            "attempt": thread.head.attempt if thread.head else 0,
        }
        return StateView(thread.state if state is None else state, messages, counters)

    def idempotency_key(self, call: str) -> str:
        """The same for every try of a call within its run."""
        return ids.idempotency_key(self.thread.key.tenant, self.thread.uid, self.thread.run_id, call)

    def stop(self, code: str, message: str, *, retryable: bool = True, request: RequestRecord | None = None) -> None:
        """Ask the run to end as failed; its work is cancelled now, and it is saved, with the record of the request that asked."""
        if self._stop is None:
            self._stop = Failure(code, message, retryable)
            self.stop_request = request
            self._interrupt()

    def over(self, code: str, message: str) -> RunStopped:
        """What to raise to end the run as failed; it can be retried."""
        return RunStopped(Failure(code, message, retryable=True))

    def abandon(self, error: Exception) -> None:
        """The lease is gone: end without writing anything more."""
        if self._abandoned is None:
            self._abandoned = error
            self._interrupt()

    def usage(self, more: Usage | None = None) -> Usage:
        """What the models of this run used, over all its attempts, and `more`."""
        head = self.thread.head
        first = head.run_version if head else 0
        total = self.used_apart + (more or Usage())
        for message in reversed(self.thread.transcript.before(None)):
            # An edited message has a later version than the one that made it, and the same id.
            made = ids.message_version(message.id)
            if made is not None and made < first:
                break
            if message.usage is not None:
                total = total + message.usage
        return total

    def addressed(self, question: Question) -> Question:
        """A question with who asks and until when."""
        ttl = self.program.approval_ttl_s
        until = None if ttl is None else self.storage.now_ms() + int(ttl * 1000)
        return replace(question, requested_by=self.actor, expires_at_ms=until)

    def check_held(self) -> None:
        """Raises what took the lease away."""
        if self._abandoned is not None:
            raise self._abandoned

    def check(self) -> None:
        """Raises what the run was asked to stop for."""
        self.check_held()
        if self.thread.cancel_requested and self._stop is None:
            self.stop("cancelled", "the run was cancelled")
        if self._stop is not None:
            raise RunStopped(self._stop)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a piece of work that is cancelled when the run is asked to stop."""
        task = asyncio.create_task(contained(work))
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        # A task that is cancelled before it began never came to what it was to do.
        task.add_done_callback(lambda _: work.close())
        return task

    async def act(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Do what has effects outside. Raises LeaseLost where a process that was stopped since it was to be done goes on without its lease.

        The lease is looked at in the moment in which it begins, and not before.
        """
        await self.thread.firmly()
        return await begin()

    async def work(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a piece of work to its end. Raises RunStopped when the run is asked to stop first."""
        try:
            self.check()
        except BaseException:
            work.close()
            raise
        task = self.start(work)
        both: set[asyncio.Future[Any]] = {task, self._stopping}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=self.grace_s)
        if task.done() and not task.cancelled():
            return task.result()
        self.check()
        raise RunStopped(Failure("tool_failed", "a step cancelled itself", retryable=True))

    def count_step(self) -> None:
        """Count a step of the program against the limit."""
        if self.limits.steps is not None and self.steps >= self.limits.steps:
            raise RunStopped(over_limit("steps", f"{self.limits.steps} steps"))
        self.steps += 1

    def count_usage(self, usage: Usage) -> None:
        """Count what a model used in this attempt."""
        self.tokens += usage.total_tokens

    def check_tokens(self) -> None:
        """Raises RunStopped when the attempt has used up its tokens."""
        if self.limits.tokens is not None and self.tokens >= self.limits.tokens:
            raise RunStopped(over_limit("tokens", f"{self.limits.tokens} tokens"))

    async def execute(self) -> None:
        """Step the program until the run ends. Whatever happens, the lease is let go and every reader is told."""
        timer = None
        if self.limits.seconds is not None:
            over = over_limit("time", f"{self.limits.seconds:g} s")
            timer = asyncio.get_running_loop().call_later(
                self.limits.seconds, lambda: self.stop(over.code, over.message, retryable=over.retryable)
            )
        try:
            await self._steps()
        except Exception as error:  # noqa: BLE001 - whatever it is, the lease is let go and readers are told
            self._lose(error)
        finally:
            if timer is not None:
                timer.cancel()
            await self.storage.release(self)

    async def _steps(self) -> None:
        while self.thread.status is Status.IN_PROGRESS:
            try:
                self.check()
                await self.program.step(self)
            except RunStopped as stopped:
                await self._fail(stopped)
            except ModelError as error:
                await self._fail(RunStopped(Failure(error.code, error.message, error.retryable)))
            except StorageError:
                raise
            except ClewError as error:
                self.check_held()
                await self._fail(RunStopped(Failure("tool_failed", error.message, retryable=True)))
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not leave the thread without an end
                incident = incidents.unforeseen(error, self.thread.key.thread_id)
                message = f"something unforeseen happened (incident {incident}, see the server's log)"
                failure = Failure("internal", message, retryable=True, metadata={"incident": incident})
                await self._fail(RunStopped(failure))

    async def _fail(self, why: RunStopped) -> Checkpoint:
        self.check_held()
        await self.thread.settle()
        try:
            return await self.thread.commit(self._failed(why, why.partial), self.stop_request)
        except StateTooLargeError:
            # What was streamed is more than a message may hold: the end is kept without it.
            return await self.thread.commit(self._failed(why, None), self.stop_request)

    def _failed(self, why: RunStopped, partial: DraftMessage | None) -> Draft:
        thread = self.thread
        return Draft(
            Source.FAILURE,
            Status.FAILED,
            next=thread.body.next if why.next is None else why.next,
            messages=(partial,) if partial else (),
            failure=why.failure,
            usage=self.usage(),
            partial=_partial(thread, partial),
            memos=why.memos,
        )

    async def _rest(self) -> None:
        """The head is at rest: the lease is free before anyone is told."""
        self.thread.keep()
        await self.storage.release(self)

    def _interrupt(self) -> None:
        if not self._stopping.done():
            self._stopping.set_result(None)
        for task in tuple(self._work):
            task.cancel()

    def _lose(self, error: Exception) -> None:
        thread = self.thread
        self.storage.warm.drop(thread.key)
        for task in tuple(self._work):
            task.cancel()
        if self._abandoned is not None:
            self.storage.hub.fail(thread.key, thread.uid, self._abandoned)
            return
        if isinstance(error, LeaseLost):
            self.storage.hub.fail(thread.key, thread.uid, translated(error, thread.key))
            return
        why = None
        if isinstance(error, StorageError):
            incidents.of_the_storage(error, thread.key.thread_id)
            why = translated(error, thread.key)
        else:
            incidents.unforeseen(error, thread.key.thread_id)
        self.storage.hub.fail(
            thread.key, thread.uid, why or ThreadInterruptedError(thread.key.thread_id, thread.run_id)
        )


async def contained(work: Coroutine[Any, Any, T]) -> T:
    """An author's function that exits must not take the process with it, and the other threads' runs."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"it tried to exit the process (status {error.code})") from error
    except KeyboardInterrupt as error:
        raise RuntimeError("it raised KeyboardInterrupt") from error


def _partial(thread: OpenThread, partial: DraftMessage | None) -> int | None:
    """The position that a retry writes over: of what was streamed now, or of what an earlier attempt left."""
    if partial is None:
        return thread.body.partial
    return thread.next_position if partial.position is None else partial.position


def over_limit(limit: str, most: str) -> Failure:
    """Why a run ends that has used up a limit."""
    return Failure(
        "limit_exceeded",
        f"the attempt used up its limit of {most}; retry continues the run with a new one",
        retryable=True,
        metadata={"limit": limit},
    )
