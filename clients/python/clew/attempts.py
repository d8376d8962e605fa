"""The streams that start an attempt, and those that only look on."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

from google.protobuf.message import Message

from clew.connection import Connection
from clew.errors import ClewError, NotFoundError
from clew.event_reader import EventReader, Response
from clew.events import Event
from clew.line import Call
from clew.options import new_request_id
from clew.position import Position
from clew.v1 import run_service_pb2 as pb

_log = logging.getLogger("clew")

Rpc = Literal["Send", "Decide", "Resume", "Retry"]
# A request, or what makes it once the server can be asked what it is about.
Request = Message | Callable[[Connection], Awaitable[Message]]


class Attempt(EventReader):
    """A send, decide, resume or retry, to the end of its attempt.

    Until the attempt is known to have started, a stream that breaks is asked for again with the same request id, which the server answers with the
    attempt that the first one started, if it did. From then on the thread is watched.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        rpc: Rpc,
        request: Request,
        *,
        thread_id: str = "",
        actor: str = "",
        timeout: float | None = None,
    ) -> None:
        super().__init__(connect, Position(complete=True), timeout)
        self._rpc = rpc
        self._request = request
        self._thread_id = thread_id
        self._actor = actor

    async def open_call(self, connection: Connection, left: float | None) -> Call[Response]:
        """The request as long as nothing is known of it, then a watch of its run."""
        if not self.position.started:
            if not isinstance(self._request, Message):
                self._request = await self._request(connection)
            call: Call[Response] = getattr(connection.runs, self._rpc)(
                self._request, timeout=left, metadata=connection.metadata()
            )
            return call
        request = pb.WatchRequest(
            thread_id=self._thread_id,
            thread_uid=self.position.thread_uid,
            after_version=self.position.cursor or 0,
            run_id=self.position.run_id,
        )
        return connection.runs.Watch(request, timeout=left, metadata=connection.metadata())

    def ends_with(self, event: Event) -> bool:
        """The attempt's one terminal event ends it."""
        return event.payload.terminal

    def may_rejoin(self) -> bool:
        """A run without a thread is in no log, and cancelled when its stream breaks."""
        return bool(self._thread_id) or not self.position.started

    async def part(self, connection: Connection) -> None:
        """Cancel the run; before it is known, what the request began or waits for. A run without a thread ends with its call."""
        if not self._thread_id or not isinstance(self._request, Message):
            return
        while not self.over:
            started = self.position.started
            try:
                await self._cancel(connection, self._request)
            except NotFoundError:
                # The thread is gone; or a newer run has taken the place of this one, which has ended then; or else the request has not
                # come yet, which its stream shows when it has.
                if started or not self.connected:
                    return
                await self.learn(connection)
            else:
                return

    async def _cancel(self, connection: Connection, request: Message) -> None:
        """Raises NotFoundError where there is nothing of it."""
        cancel = pb.CancelRunRequest(
            thread_id=self._thread_id,
            run_id=self.position.run_id,
            started_by_request_id="" if self.position.started else request.request_id,  # type: ignore[attr-defined]  # every one has it
            request_id=new_request_id(),
            actor=self._actor,
        )
        try:
            await connection.ask(connection.runs.CancelRun, cancel, connection.settings.leave_timeout)
        except NotFoundError:
            raise
        except ClewError as error:
            what = self.position.run_id or f"of request {cancel.started_by_request_id}"
            _log.warning("run %s of thread %s was left and goes on: %s", what, self._thread_id, error)


class Watch(EventReader):
    """A thread's events after a version. Leaving it has no effect on any run."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        *,
        thread_id: str,
        after_version: int,
        run_id: str,
        follow: bool,
        timeout: float | None,
    ) -> None:
        super().__init__(connect, Position(after_version, complete=False), timeout)
        self._thread_id = thread_id
        self._run_id = run_id
        self._follow = follow
        self._rests = False

    async def open_call(self, connection: Connection, left: float | None) -> Call[Response]:
        """The log after the cursor, then what happens."""
        request = pb.WatchRequest(
            thread_id=self._thread_id,
            thread_uid=self.position.thread_uid,
            after_version=self.position.cursor or 0,
            run_id=self._run_id,
            follow=self._follow,
        )
        return connection.runs.Watch(request, timeout=left, metadata=connection.metadata())

    def ends_with(self, event: Event) -> bool:
        """A run's first terminal event ends a watch of that run; the server ends the others."""
        if event.payload.logged:
            self._rests = event.payload.terminal
        return bool(self._run_id) and event.payload.terminal

    def ended(self) -> bool:
        """After a terminal event the thread is at rest."""
        return self._rests and not self._follow

    async def part(self, connection: Connection) -> None:
        """Nothing is due."""
