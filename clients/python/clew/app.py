"""The handle of an app: an agent or workflow that the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.argument_checks import checked
from clew.attempts import Attempt
from clew.blocking import blocking, iterating
from clew.options import Limits
from clew.replies import replying
from clew.requests import Input, send_request
from clew.snapshots import SnapshotVerbs
from clew.streams import EventStream
from clew.thread import Thread


class AppHandle(SnapshotVerbs):
    """An app by its name. It runs on threads, or without one: then nothing is stored, and leaving the stream cancels the run."""

    @checked
    def thread(self, thread_id: str, actor: str | None = None) -> Thread:
        """A handle on a thread of this app. `actor` is on whose behalf it is used."""
        return Thread(self._client, thread_id, self.name, actor or "")

    @checked
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

    run = replying(stream, "run", "Runs the app once, without a thread. Takes what `stream` takes.")
    resume = replying(SnapshotVerbs.stream_resume, "resume", "Continues a run without a thread from its snapshot.")
    decide = replying(
        SnapshotVerbs.stream_decide, "decide", "Decides approvals of a run without a thread, from its snapshot."
    )
    stream_sync = iterating(stream)
    run_sync = blocking(run)
    resume_sync = blocking(resume)
    decide_sync = blocking(decide)
