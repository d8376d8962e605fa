"""The verbs of a thread that continue, watch and stop runs, as far as it matters to none what runs on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from clew.argument_checks import checked
from clew.attempts import Attempt, Request, Rpc, Watch
from clew.blocking import blocking, iterating
from clew.connection import Connection
from clew.decisions import Decision, Decisions, decisions_of
from clew.errors import ClewError, IdInvalidError, RequestIdReusedError
from clew.json_text import encode_json
from clew.options import new_request_id
from clew.pending import decided_before, is_recorded, pending_ids
from clew.records import Checkpoint, checkpoint_of
from clew.requests import Frame, RunArguments, decide_request, frame_of
from clew.streams import EventStream
from clew.v1 import run_service_pb2 as pb

if TYPE_CHECKING:
    from clew.client import Client


class Runs:
    """What can be done with the runs of a thread. The `stream` forms give events as they happen; what a run hands back is its subclasses'."""

    def __init__(self, client: Client, thread_id: str, app: str, actor: str) -> None:
        if not thread_id:
            # Said here, since a request without one is a run without a thread: the server would take it, and keep nothing.
            text = "thread_id: an id is needed: 1 to 128 characters"
            raise IdInvalidError(text, metadata={"field": "thread_id"})
        self._client = client
        self.id = thread_id
        self.app = app
        self.actor = actor

    @checked
    def stream_decide(self, decisions: Decisions, /, **options: Unpack[RunArguments]) -> EventStream:
        """Decides approvals, all or none, and streams what follows.

        `decisions` is a list of Decision, or a dict from approval ids to True, False, or one choice by name, such as `{"arguments": {…}}`,
        `{"reject": "why"}` or `{"value": …}`.
        """
        frame = self._frame(**options)
        return self._attempt("Decide", decide_request(frame, decisions_of(decisions)), frame)

    @checked
    def stream_approve(
        self, *approval_ids: str, arguments: dict[str, Any] | None = None, **options: Unpack[RunArguments]
    ) -> EventStream:
        """Approves tool calls, or without ids all that the thread waits for, and streams what follows. One may be given other `arguments`."""
        return self._decide_each(approval_ids, lambda each: Decision.approve(each, arguments), options)

    @checked
    def stream_reject(self, reason: str = "", /, *approval_ids: str, **options: Unpack[RunArguments]) -> EventStream:
        """Rejects tool calls and pauses, or without ids all that the thread waits for, and streams what follows. The model reads the reason."""
        return self._decide_each(approval_ids, lambda each: Decision.reject(each, reason), options)

    @checked
    def stream_resume(self, value: Any, /, **options: Unpack[RunArguments]) -> EventStream:
        """Answers the one pause that the thread waits with, and streams what follows."""
        frame = self._frame(**options)
        request = pb.ResumeRequest(
            thread_id=self.id,
            value_json=encode_json(value, "value_json"),
            request_id=frame.request_id,
            expected_version=frame.expected_version,
            options=frame.options,
        )
        return self._attempt("Resume", request, frame)

    @checked
    def stream_retry(self, **options: Unpack[RunArguments]) -> EventStream:
        """Continues a failed, cancelled or interrupted run where it stopped, and streams what follows. Finished tool calls are not run again."""
        frame = self._frame(**options)
        request = pb.RetryRequest(
            thread_id=self.id,
            request_id=frame.request_id,
            expected_version=frame.expected_version,
            options=frame.options,
        )
        return self._attempt("Retry", request, frame)

    @checked
    def watch(
        self, after_version: int = 0, *, run_id: str = "", follow: bool = False, timeout: float | None = None
    ) -> EventStream:
        """Streams what is in the log after a version, then what happens.

        With `run_id` it ends with that run's first end after the version; otherwise when the thread is at rest, or never with `follow`. Leaving it has
        no effect on any run.
        """
        reader = Watch(
            self._client.connection,
            thread_id=self.id,
            after_version=after_version,
            run_id=run_id,
            follow=follow,
            timeout=timeout,
        )
        return EventStream(reader)

    @checked
    async def cancel(
        self,
        run_id: str = "",
        *,
        started_by_request_id: str = "",
        expected_version: int | None = None,
        request_id: str | None = None,
    ) -> Checkpoint:
        """Cancels the run at the thread's head, or only if it is `run_id`, and gives the head when that is written.

        `started_by_request_id` names instead the `request_id` of the send, decide, resume or retry: its attempt is cancelled, or it leaves the queue.
        """
        request = pb.CancelRunRequest(
            thread_id=self.id,
            run_id=run_id,
            started_by_request_id=started_by_request_id,
            request_id=request_id or new_request_id(),
            expected_version=expected_version,
            actor=self.actor,
        )
        to = self._client.connection()
        return checkpoint_of((await to.ask(to.runs.CancelRun, request)).checkpoint)

    stream_decide_sync = iterating(stream_decide)
    stream_approve_sync = iterating(stream_approve)
    stream_reject_sync = iterating(stream_reject)
    stream_resume_sync = iterating(stream_resume)
    stream_retry_sync = iterating(stream_retry)
    watch_sync = iterating(watch)
    cancel_sync = blocking(cancel)

    def _frame(self, **options: Unpack[RunArguments]) -> Frame:
        return frame_of(self.id, self.actor, options)

    def _attempt(self, rpc: Rpc, request: Request, frame: Frame) -> EventStream:
        connect = self._client.connection
        return EventStream(Attempt(connect, rpc, request, thread_id=self.id, actor=frame.actor, timeout=frame.timeout))

    def _decide_each(
        self, approval_ids: Sequence[str], decide: Callable[[str], Decision], options: RunArguments
    ) -> EventStream:
        frame = self._frame(**options)

        async def request(to: Connection) -> pb.DecideRequest:
            named = bool(options.get("request_id"))
            try:
                ids, version = await pending_ids(to, self.id, frame.expected_version)
            except ClewError:
                known = await self._recorded(to, frame, decide) if named else None
                if known is None:
                    raise
                return known
            # Read after what waits: what the same request decided meanwhile is seen here, or is just this.
            known = await self._recorded(to, frame, decide) if named else None
            return known or decide_request(frame, decisions_of(map(decide, ids)), version)

        if approval_ids:
            return self._attempt("Decide", decide_request(frame, decisions_of(map(decide, approval_ids))), frame)
        return self._attempt("Decide", request, frame)

    async def _recorded(
        self, to: Connection, frame: Frame, decide: Callable[[str], Decision]
    ) -> pb.DecideRequest | None:
        """The same request as it was sent before. A request says what it decides, and that waits no longer when it comes again."""
        reused: RequestIdReusedError | None = None
        async for ids, version in decided_before(to, self.id):
            request = decide_request(frame, decisions_of(map(decide, ids)), version)
            try:
                return request if await is_recorded(to, request) else None
            except RequestIdReusedError as error:
                reused = error
        if reused is not None:
            raise reused
        return None
