"""The streams that start an attempt, and those that only look on."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import grpc
from google.protobuf.message import Message

from clew.connection import Connection
from clew.errors import ClewError, NotFoundError
from clew.event_reader import EventReader, Response
from clew.events import Event
from clew.line import Call
from clew.options import new_request_id
from clew.position import Position
from clew.refusals import reason_of
from clew.v1 import run_service_pb2 as pb

_NO_VERSION = 2**63 - 1
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
        """Cancel the run, or withdraw the request that waits for its turn."""
        while self.connected and not (self.position.started or self.position.queued or self.over):
            await self.learn(connection)
        if not (self.position.started or self.over):
            await self._withdraw(connection)
        if self.over or not self.position.started or not self._thread_id:
            return
        request = pb.CancelRunRequest(
            thread_id=self._thread_id,
            run_id=self.position.run_id,
            request_id=new_request_id(),
            actor=self._actor,
        )
        timeout = connection.settings.leave_timeout
        try:
            await connection.ask(connection.runs.CancelRun, request, timeout)
        except NotFoundError:
            pass  # The thread is gone, or a newer run has taken the place of this one, which has ended then.
        except ClewError as error:
            _log.warning("run %s of thread %s was left and goes on: %s", request.run_id, request.thread_id, error)

    async def _withdraw(self, connection: Connection) -> None:
        """Cancel the call of a request that waits or broke, and see that it did not start a run all the same: then learn of it.

        To see, the same request id is sent with a version that no thread has: it is refused for the version, or for the id where that is recorded.
        """
        self.hang_up()
        assert isinstance(self._request, Message)
        probe = type(self._request)()
        probe.CopyFrom(self._request)
        probe.expected_version = _NO_VERSION  # type: ignore[attr-defined]  # every request that starts an attempt has it
        call = getattr(connection.runs, self._rpc)(probe, metadata=connection.metadata())
        try:
            async for _ in call:
                pass
        except grpc.aio.AioRpcError as refused:
            if reason_of(refused) != "REQUEST_ID_REUSED":
                return
        while not (self.position.started or self.over):
            await self.learn(connection)


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
