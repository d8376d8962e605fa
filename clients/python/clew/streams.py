"""Streams as their readers hold them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from clew.errors import RunCancelledError, RunFailedError, StreamCutError
from clew.event_reader import EventReader
from clew.events import (
    ApprovalRequested,
    CheckpointWritten,
    Event,
    RunCompleted,
    RunFailed,
    RunSuspended,
    StateReturned,
)
from clew.json_text import decode_json
from clew.messages import Message
from clew.records import Approval, Reply

T = TypeVar("T")


class Reader(Protocol[T]):
    """Where the items come from."""

    async def read(self) -> list[T]:
        """The next ones; none at the end."""

    async def leave(self) -> None:
        """End it on purpose."""

    def close(self) -> None:
        """Give up the call that is open, if any."""


class Stream(Generic[T]):
    """Items to iterate over once. Nothing is sent before the first is asked for, and a refusal is raised then.

    Breaking out of the loop leaves the stream in the background. `aclose`, or `async with`, leaves it and waits until that has its effect.
    """

    def __init__(self, reader: Reader[T]) -> None:
        self._reader = reader
        self._begun = False

    def __aiter__(self) -> AsyncGenerator[T, None]:
        if self._begun:
            raise RuntimeError("a stream can be iterated over once; make another one")
        self._begun = True
        return _items(self._reader)

    async def aclose(self) -> None:
        """Leave the stream. Harmless when it is over."""
        if self._begun:
            await self._reader.leave()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


@dataclass(frozen=True, slots=True)
class Ended:
    """What a stream told of the end of its attempt: the reply, the checkpoint where it named one, and of a run without a thread the state."""

    reply: Reply
    checkpoint_id: str | None
    state: dict[str, Any] | None


class EventStream(Stream[Event]):
    """The events of a thread or of one attempt. Leaving an attempt's stream cancels its run, which `retry` continues."""

    def __init__(self, reader: EventReader) -> None:
        super().__init__(reader)
        self._events = reader

    async def reply(self) -> Reply:
        """Read to the end. Raises RunFailedError or RunCancelledError for a run that failed."""
        return (await self.ended()).reply

    async def ended(self) -> Ended:
        """As `reply`, with what else was told of the end."""
        state: dict[str, Any] | None = None
        last: Event | None = None
        written: str | None = None
        spoken: dict[str, Message] = {}
        asked: list[Approval] = []
        async for event in self:
            if isinstance(event.payload, CheckpointWritten):
                spoken = {message["id"]: message for message in event.payload.messages}
                written = event.payload.checkpoint["id"]
            if isinstance(event.payload, ApprovalRequested):
                asked.append(event.payload.approval)
            if isinstance(event.payload, StateReturned):
                state = decode_json(event.payload.state_json)
            if event.payload.terminal:
                last = event
        if last is None:
            raise StreamCutError("the stream ended without a word on the run; watch the thread for the rest")
        if isinstance(last.payload, RunSuspended) and len(last.payload.approvals) < last.payload.approval_count:
            approvals = await self._all_of(last, last.payload, asked)
            last = replace(last, payload=replace(last.payload, approvals=approvals))
        return Ended(_reply_of(last, spoken), written, state)

    async def _all_of(self, event: Event, told: RunSuspended, asked: list[Approval]) -> tuple[Approval, ...]:
        """What the run waits for, also what its last event had no room for: it was asked within this attempt, or else the server lists it."""
        found = tuple(each for each in asked if each.version == event.version)
        if len(found) < told.approval_count and event.thread_id:
            found = tuple(each for each in await self._events.waiting(event.thread_id) if each.run_id == event.run_id)
        return found if len(found) > len(told.approvals) else told.approvals


async def _items(reader: Reader[T]) -> AsyncGenerator[T, None]:
    try:
        while items := await reader.read():
            for item in items:
                yield item
    except (asyncio.CancelledError, GeneratorExit):
        await reader.leave()
        raise
    except BaseException:
        reader.close()
        raise


def _reply_of(event: Event, spoken: dict[str, Message]) -> Reply:
    payload = event.payload
    if isinstance(payload, RunCompleted):
        return _whole(payload.reply, spoken)
    if isinstance(payload, RunSuspended):
        return Reply(
            thread_id=event.thread_id,
            thread_uid=event.thread_uid,
            run_id=event.run_id,
            version=event.version,
            status="suspended",
            approvals=payload.approvals,
            snapshot=payload.snapshot,
        )
    assert isinstance(payload, RunFailed)
    if payload.code == "cancelled":
        metadata = payload.metadata | {"run_id": event.run_id}
        raise RunCancelledError(payload.message, metadata=metadata)
    raise RunFailedError(
        payload.message,
        failure_code=payload.code,
        retryable=payload.retryable,
        run_id=event.run_id,
        usage=payload.usage,
        snapshot=payload.snapshot,
        metadata=payload.metadata,
        retry_after=payload.retry_after,
    )


def _whole(reply: Reply, spoken: dict[str, Message]) -> Reply:
    """The reply with its message, which travels with the checkpoint alone where it is very large."""
    if reply.message is not None or reply.message_id not in spoken:
        return reply
    return replace(reply, message=spoken[reply.message_id])
