"""A stream of events that outlives the connections which carry it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

import grpc

from clew.connection import Connection
from clew.errors import ClewError, DeadlineExceededError, StreamCutError
from clew.events import Event
from clew.inbox_reader import list_approvals
from clew.line import Call, Line, SilentError
from clew.patience import Patience
from clew.position import Position
from clew.records import Approval
from clew.refusals import is_break
from clew.v1 import approval_service_pb2, event_pb2

_DRAIN_S = 0.25


class Response(Protocol):
    """Every streaming response of the contract that carries events."""

    @property
    def events(self) -> Sequence[event_pb2.Event]:
        """One or more, in order."""


class EventReader(ABC):
    """Reads events until the stream is `over`, and opens it anew where it breaks."""

    def __init__(self, connect: Callable[[], Connection], position: Position, timeout: float | None) -> None:
        self.position = position
        self.over = False
        self._connect = connect
        self._timeout = timeout
        self._deadline: float | None = None
        self._line: Line[Response] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._patience: Patience | None = None
        self._broken = ""
        self._opened = 0

    @abstractmethod
    async def open_call(self, connection: Connection, left: float | None) -> Call[Response]:
        """Begin where the position is, with the seconds that are left."""

    @abstractmethod
    def ends_with(self, event: Event) -> bool:
        """Whether the stream is over with this event."""

    @abstractmethod
    async def part(self, connection: Connection) -> None:
        """What is due when the reader leaves before the end."""

    async def waiting(self, thread_id: str) -> list[Approval]:
        """What the thread waits for now."""
        return await list_approvals(
            self._connect(), approval_service_pb2.ListApprovalsRequest(thread_id=thread_id), None
        )

    def may_rejoin(self) -> bool:
        """Whether a stream that broke can be opened anew without doing anything twice."""
        return True

    def ended(self) -> bool:
        """Whether a stream that the server ended in good order is at its end, and was not just cut."""
        return self.over

    async def read(self) -> list[Event]:
        """The next events, one or more; empty when the stream is over. Raises what ended it otherwise."""
        connection = self._begin()
        while not self.over:
            try:
                response = await self._next(connection)
            except (grpc.aio.AioRpcError, SilentError) as broken:
                self._check_open()
                await self._mend(broken)
                continue
            self._check_open()
            if response is not None:
                events = self._take(response)
                if events:
                    return events
            elif self.ended():
                self.over = True
            else:
                await self._mend(None)
        await self._drain()
        return []

    async def leave(self) -> None:
        """End the stream on purpose. Harmless when it is over."""
        if self._leaving is None:
            self._leaving = self._connect().spawn(self._leave(self._connect()))
        await asyncio.shield(self._leaving)

    def close(self) -> None:
        """Give up the call that is open, if any, without a word."""
        self.hang_up()
        self._connect().open.discard(self)

    def hang_up(self) -> None:
        """Cancel the call that is open, if any. The next read opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    @property
    def connected(self) -> bool:
        """Whether a call is open."""
        return self._line is not None

    async def learn(self, connection: Connection) -> None:
        """Wait for what is on its way, to know how the request stands."""
        response = await self._next(connection)
        if response is not None:
            self._take(response)
        else:
            self.over = True

    def _begin(self) -> Connection:
        self._check_open()
        connection = self._connect()
        connection.open.add(self)
        if self._patience is None:
            self._patience = Patience(connection.settings)
            self._deadline = None if self._timeout is None else time.monotonic() + self._timeout
        return connection

    def _check_open(self) -> None:
        if self._leaving is not None:
            raise ClewError("the stream was left while it was read", code="stream_left")

    async def _next(self, connection: Connection) -> Response | None:
        if self._line is None:
            self._line = Line(await self.open_call(connection, self._time_left()))
            if self._opened:
                self.position.join()
            self._opened += 1
        # Only a run that is under way sends heartbeats for sure.
        silence = connection.settings.silence_timeout if self.position.started else None
        return await self._line.read(silence)

    def _time_left(self) -> float | None:
        if self._deadline is None:
            return None
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.over = True
            raise DeadlineExceededError(self._late())
        return left

    def _late(self) -> str:
        why = f" The last that is known of {self._connect().settings.target}: {self._broken}" if self._broken else ""
        return f"the call's timeout is over; a run that has started goes on, and a watch of the thread shows it.{why}"

    def _take(self, response: Response) -> list[Event]:
        if self._patience is not None:
            self._patience.heard()
        events: list[Event] = []
        for wire in response.events:
            for event in self.position.accept(wire):
                events.append(event)
                self.over = self.over or self.ends_with(event)
        return events

    async def _mend(self, broken: Exception | None) -> None:
        """Wait a moment, if it makes sense to try again. Raises what ended the stream if not."""
        self.hang_up()
        error, mendable = _cut(self.position.cursor), True
        if isinstance(broken, grpc.aio.AioRpcError):
            error, mendable = self._connect().error_of(broken), is_break(broken)
        self._broken = error.message
        pause = self._patience.pause() if self._patience and mendable and self.may_rejoin() else None
        if pause is None:
            # The stream is over, and nobody left it: the run goes on, if it does.
            self.over = True
            raise error from None
        await asyncio.sleep(pause)
        self._check_open()

    async def _drain(self) -> None:
        """The end of a call that has said its last word, so that it counts as one that went well."""
        if self._line is not None:
            with contextlib.suppress(grpc.aio.AioRpcError, SilentError):
                await self._line.read(_DRAIN_S)
        self.close()

    async def _leave(self, connection: Connection) -> None:
        try:
            if not self.over and self._opened:
                async with asyncio.timeout(connection.settings.leave_timeout):
                    await self.part(connection)
        except (TimeoutError, grpc.aio.AioRpcError):
            pass
        finally:
            self.close()


def _cut(cursor: int | None) -> ClewError:
    return StreamCutError(
        f"the stream broke off after version {cursor or 0}, and could not be joined again in time; watch the thread for the rest",
        metadata={"version": str(cursor or 0)},
    )
