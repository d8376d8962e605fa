"""The stream of one attempt: what a send, decide, resume or retry yields until its run stops."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from clew_engine.errors import ClewError, RunCancelledError, RunFailedError
from clew_engine.events import Event, RunCompleted, RunFailed, RunSuspended
from clew_engine.options import OnDisconnect
from clew_engine.replies import Reply
from clew_storage import Status

if TYPE_CHECKING:
    from clew_engine.hub import Subscription
    from clew_engine.runs import Run

Batches = AsyncGenerator[list[Event], None]
P = ParamSpec("P")
S = TypeVar("S")


class EventStream:
    """Events in batches: whatever is there when the reader is free. Iterating gives one event at a time.

    A refusal is raised by the first read, and nothing was recorded then. Closing the stream leaves it: what becomes of the run is the call's
    `on_disconnect`.
    """

    def __init__(
        self,
        batches: Callable[[], Batches],
        leave: Callable[[], Awaitable[None]] | None = None,
        *,
        detachable: bool = True,
    ) -> None:
        self._make = batches
        self._leave = leave
        self._detachable = detachable
        self._batches: Batches | None = None

    def batches(self) -> Batches:
        """The batches; one reader only."""
        if self._batches is None:
            self._batches = self._make()
        return self._batches

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._each()

    async def _each(self) -> AsyncIterator[Event]:
        try:
            async for batch in self.batches():
                for event in batch:
                    yield event
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Leave the stream. Harmless when it is over."""
        await self.batches().aclose()
        if self._leave is not None:
            leave, self._leave = self._leave, None
            await leave()

    def detach(self) -> None:
        """Have closing the stream leave nothing: its reader is given up by whoever serves it, and the run goes on.

        A stateless run has no other reader, and ends all the same.
        """
        if self._detachable:
            self._leave = None

    async def reply(self) -> Reply:
        """Read to the end. Raises RunFailedError or RunCancelledError for a run that failed."""
        last: Event | None = None
        try:
            async for batch in self.batches():
                for event in batch:
                    if event.payload.terminal:
                        last = event
        finally:
            await self.aclose()
        if last is None:
            raise ClewError("the stream ended without a terminal event; watch the thread for the rest")
        return reply_of(last)


def late_stream(opened: Callable[[], Awaitable[EventStream]]) -> EventStream:
    """A stream whose call needs a read first, which the first read of the stream does."""
    inner: EventStream | None = None

    async def batches() -> Batches:
        nonlocal inner
        inner = await opened()
        async for batch in inner.batches():
            yield batch

    async def leave() -> None:
        if inner is not None:
            await inner.aclose()

    return EventStream(batches, leave)


def replying(
    verb: Callable[Concatenate[S, P], EventStream], name: str, doc: str
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Reply]]:
    """From a verb that streams to the one that reads to its end: a Reply, or the error that the run failed with."""

    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Reply:
        return await verb(self, *args, **kwargs).reply()

    call.__name__, call.__doc__ = name, doc
    call.__qualname__ = f"{verb.__qualname__.rpartition('.')[0]}.{name}"
    call.__annotations__ = verb.__annotations__ | {"return": "Reply"}
    signature = inspect.signature(verb).replace(return_annotation="Reply")
    call.__signature__ = signature  # type: ignore[attr-defined]  # what help() shows
    return call


def reply_of(event: Event) -> Reply:
    """What a terminal event hands back, or raises."""
    payload = event.payload
    if isinstance(payload, RunCompleted):
        return payload.reply
    if isinstance(payload, RunSuspended):
        return Reply(
            thread_id=event.thread_id,
            thread_uid=event.thread_uid,
            run_id=event.run_id,
            version=event.version,
            status=Status.SUSPENDED,
            approvals=payload.approvals,
        )
    assert isinstance(payload, RunFailed)
    why = payload.failure
    if why.code == "cancelled":
        raise RunCancelledError(f"{why.message}; retry continues it", run_id=event.run_id, version=event.version)
    raise RunFailedError(why.code, why.message, retryable=why.retryable, run_id=event.run_id)


async def attempt_batches(reader: Subscription, run_id: str, heartbeat_s: float, beat: Callable[[], Event]) -> Batches:
    """The live events of a run's attempt until its terminal; a heartbeat when nothing happens."""
    while True:
        batch = await reader.take(heartbeat_s)
        if not batch:
            yield [beat()]
            continue
        mine = [event for event in batch if event.run_id == run_id]
        for index, event in enumerate(mine):
            if event.payload.terminal:
                yield mine[: index + 1]
                return
        if mine:
            yield mine


async def leave_run(run: Run, on_disconnect: OnDisconnect) -> None:
    """What happens to a run whose stream was left before its end."""
    if on_disconnect is OnDisconnect.CANCEL and not run.ended.done():
        run.stop("cancelled", "the stream that started the run was left")
        await asyncio.shield(run.ended)
