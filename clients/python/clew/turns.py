"""The turns of a conversation: its messages, and the replies to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew.argument_checks import checked
from clew.blocking import blocking, iterating
from clew.options import Limits, OnBusy
from clew.replies import replying
from clew.requests import Input, merged, send_request
from clew.runs import Runs
from clew.streams import EventStream


class Turns(Runs):
    """What is said on a thread. The `stream` form gives events as they happen, the others a Reply when the attempt has ended."""

    @checked
    def stream(
        self,
        message: Input,
        /,
        *,
        state: Mapping[str, Any] | None = None,
        user_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_busy: OnBusy | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
        expected_version: int | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
        **values: Any,
    ) -> EventStream:
        """Sends a message and streams its turn.

        `message` is a text, a list of parts (dicts as `messages` gives them), or a dict: what a workflow starts with. `values` and `state` are merged
        into the thread's state (`state` for names that are options here); `user_id` is one of them, and whom a new thread belongs to, `metadata` is a
        new thread's. The other options are those of RunArguments.
        """
        frame = self._frame(
            on_busy=on_busy,
            busy_timeout=busy_timeout,
            limits=limits,
            expected_version=expected_version,
            request_id=request_id,
            timeout=timeout,
        )
        request = send_request(frame, self.app, message, merged(state, values), user_id, metadata)
        return self._attempt("Send", request, frame)

    send = replying(stream, "send", "Sends a message and runs its turn. Takes what `stream` takes.")
    decide = replying(Runs.stream_decide, "decide", "Decides approvals, all or none. Takes what `stream_decide` takes.")
    approve = replying(
        Runs.stream_approve, "approve", "Approves tool calls, or without ids all that the thread waits for."
    )
    reject = replying(
        Runs.stream_reject, "reject", "Rejects with a reason, or without ids all that the thread waits for."
    )
    resume = replying(Runs.stream_resume, "resume", "Answers the one pause that the thread waits with.")
    retry = replying(Runs.stream_retry, "retry", "Continues a failed, cancelled or interrupted run where it stopped.")

    stream_sync = iterating(stream)
    send_sync = blocking(send)
    decide_sync = blocking(decide)
    approve_sync = blocking(approve)
    reject_sync = blocking(reject)
    resume_sync = blocking(resume)
    retry_sync = blocking(retry)
