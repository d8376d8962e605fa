"""The handle of an app: an agent or workflow that the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clew.attempts import Attempt
from clew.blocking import blocking, iterating
from clew.decisions import Decisions, decisions_of
from clew.json_text import encode_json
from clew.options import Limits
from clew.replies import replying
from clew.requests import Frame, Input, RunArguments, decide_request, frame_of, send_request
from clew.streams import EventStream
from clew.thread import Thread
from clew.v1 import run_pb2
from clew.v1 import run_service_pb2 as pb

if TYPE_CHECKING:
    from clew.client import Client


class AppHandle:
    """An app by its name. It runs on threads, or without one: then nothing is stored, and leaving the stream cancels the run."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.name = name

    def __repr__(self) -> str:
        return f"AppHandle({self.name!r})"

    def thread(self, thread_id: str, actor: str | None = None) -> Thread:
        """A handle on a thread of this app. `actor` is on whose behalf it is used."""
        return Thread(self._client, thread_id, self.name, actor or "")

    def stream(
        self,
        message: Input,
        /,
        *,
        state: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        timeout: float | None = None,
        **values: Any,
    ) -> EventStream:
        """Runs the app once, without a thread, and streams what happens. Takes what a thread's `stream` takes, but for what concerns threads."""
        frame = self._frame(limits)
        request = send_request(frame, self.name, message, {**(state or {}), **values}, None, None)
        return EventStream(Attempt(self._client.connection, "Send", request, timeout=timeout))

    def stream_resume(
        self, snapshot: bytes, value: Any = ..., /, *, limits: Limits | None = None, timeout: float | None = None
    ) -> EventStream:
        """Continues a workflow's run without a thread from its snapshot (of a Reply or a RunFailedError), and streams what follows.

        With the answer to the one pause that it waits with; without a value where it failed.
        """
        frame = self._frame(limits)
        request = pb.ResumeRequest(
            snapshot=snapshot,
            value_json="" if value is ... else encode_json(value, "value_json"),
            request_id=frame.request_id,
            options=frame.options,
        )
        return EventStream(Attempt(self._client.connection, "Resume", request, timeout=timeout))

    def stream_decide(
        self, snapshot: bytes, decisions: Decisions, /, *, limits: Limits | None = None, timeout: float | None = None
    ) -> EventStream:
        """Decides approvals of a run without a thread, from its snapshot, all or none, and streams what follows.

        `decisions` is what a thread's `decide` takes.
        """
        request = decide_request(self._frame(limits), decisions_of(decisions))
        request.snapshot = snapshot
        return EventStream(Attempt(self._client.connection, "Decide", request, timeout=timeout))

    run = replying(stream, "run", "Runs the app once, without a thread. Takes what `stream` takes.")
    resume = replying(stream_resume, "resume", "Continues a run without a thread from its snapshot.")
    decide = replying(stream_decide, "decide", "Decides approvals of a run without a thread, from its snapshot.")
    stream_sync = iterating(stream)
    stream_resume_sync = iterating(stream_resume)
    stream_decide_sync = iterating(stream_decide)
    run_sync = blocking(run)
    resume_sync = blocking(resume)
    decide_sync = blocking(decide)

    def _frame(self, limits: Limits | None) -> Frame:
        frame = frame_of("", "", RunArguments(limits=limits))
        frame.options.on_disconnect = run_pb2.DISCONNECT_POLICY_CANCEL
        return frame
