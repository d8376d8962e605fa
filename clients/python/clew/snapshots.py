"""The verbs of an app that go on with a run without a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.argument_checks import checked
from clew.attempts import Attempt
from clew.blocking import iterating
from clew.decisions import Decisions, decisions_of
from clew.json_text import encode_json
from clew.options import Limits
from clew.requests import Frame, RunArguments, decide_request, frame_of
from clew.streams import EventStream
from clew.v1 import run_pb2
from clew.v1 import run_service_pb2 as pb

if TYPE_CHECKING:
    from clew.client import Client


class SnapshotVerbs:
    """An app by its name, as far as its runs go on from snapshots; what a run hands back is its subclasses'."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @checked
    def stream_resume(
        self, snapshot: bytes, value: Any = ..., /, *, limits: Limits | None = None, timeout: float | None = None
    ) -> EventStream:
        """Continues a workflow's run without a thread from its snapshot (of a Reply or a RunFailedError), and streams what follows.

        With the answer to the one pause that it waits with; without a value where it failed.
        """
        frame = self._frame(limits)
        request = pb.ResumeRequest(
            snapshot=snapshot,
            app=self.name,
            value_json="" if value is ... else encode_json(value, "value_json"),
            request_id=frame.request_id,
            options=frame.options,
        )
        return EventStream(Attempt(self._client.connection, "Resume", request, timeout=timeout))

    @checked
    def stream_decide(
        self, snapshot: bytes, decisions: Decisions, /, *, limits: Limits | None = None, timeout: float | None = None
    ) -> EventStream:
        """Decides approvals of a run without a thread, from its snapshot, all or none, and streams what follows.

        `decisions` is what a thread's `decide` takes.
        """
        request = decide_request(self._frame(limits), decisions_of(decisions))
        request.snapshot = snapshot
        request.app = self.name
        return EventStream(Attempt(self._client.connection, "Decide", request, timeout=timeout))

    stream_resume_sync = iterating(stream_resume)
    stream_decide_sync = iterating(stream_decide)

    def _frame(self, limits: Limits | None) -> Frame:
        frame = frame_of("", "", RunArguments(limits=limits))
        frame.options.on_disconnect = run_pb2.DISCONNECT_POLICY_CANCEL
        return frame
