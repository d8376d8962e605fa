"""The handle of an app: an agent or workflow that the server runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.argument_checks import checked
from clew.attempts import Attempt
from clew.blocking import blocking, iterating
from clew.errors import ThreadSuspendedError
from clew.options import Limits
from clew.records import Reply
from clew.replies import named, replying
from clew.requests import Input, merged, send_request
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
        request = send_request(frame, self.name, message, merged(state, values), None, None)
        return EventStream(Attempt(self._client.connection, "Send", request, timeout=timeout))

    async def _run(self, message: Input, /, **given: Any) -> Reply:
        reply = await self.stream(message, **given).reply()
        if reply.status == "suspended" and not reply.snapshot:
            raise _thread_needed(self.name, reply)
        return reply

    run = named(
        _run,
        stream,
        "run",
        "Runs the app once, without a thread. Takes what `stream` takes. Raises ThreadSuspendedError when an agent needs a person: that takes a thread.",
        "Reply",
    )
    resume = replying(SnapshotVerbs.stream_resume, "resume", "Continues a run without a thread from its snapshot.")
    decide = replying(
        SnapshotVerbs.stream_decide, "decide", "Decides approvals of a run without a thread, from its snapshot."
    )
    stream_sync = iterating(stream)
    run_sync = blocking(run)
    resume_sync = blocking(resume)
    decide_sync = blocking(decide)


def _thread_needed(app: str, reply: Reply) -> ThreadSuspendedError:
    asks = ", ".join(approval.tool for approval in reply.approvals)
    text = (
        f"the run needs an answer ({asks}), which an agent can wait for on a thread alone; nothing was kept: "
        f"send the message to a thread of {app!r}, and approve or reject there"
    )
    return ThreadSuspendedError(text, metadata={"app": app})
