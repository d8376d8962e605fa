"""The handle on a conversation with an agent, in process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew_engine import commands
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking, blocking_iterator
from clew_engine.errors import ArgumentInvalidError
from clew_engine.json_text import join_object
from clew_engine.message_input import Input, input_of
from clew_engine.options import Limits, Mutation, NewThread, OnBusy
from clew_engine.run_handles import RunHandle
from clew_engine.state import encode_values, encoded_value
from clew_engine.streams import EventStream, replying


class Thread(RunHandle):
    """A conversation with an agent: what a handle does, and the turns that its user begins."""

    @checked
    def stream(
        self,
        message: Input,
        /,
        *,
        state: Mapping[str, Any] | None = None,
        user_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
        expected_version: int | None = None,
        request_id: str | None = None,
        **values: Any,
    ) -> EventStream:
        """Sends a message and streams its turn. Leaving the stream cancels the run; it is saved, and `retry` continues it.

        `message` is a text, a part, or a list of parts (also as dicts, as `messages` gives them). `values` and `state` are merged into the thread's
        state (`state` for names that are options here); `user_id` is one of them, and whom a new thread belongs to, `metadata` is a new thread's.
        The other options are those of RunArguments.
        """
        parts = input_of(message)
        twice = [name for name in values if name in (state or {})]
        if twice:
            raise ArgumentInvalidError("state", f"{twice[0]!r} is given twice, in `state` and beside it; give it once")
        named = {**(state or {}), **values}
        if user_id is not None:
            named.setdefault("user_id", user_id)
        encoded = encode_values(named)
        new = NewThread(
            user_id="" if user_id is None else str(user_id),
            metadata=encoded_value(dict(metadata or {}), "metadata_json"),
        )
        body = b"\0".join((repr(parts).encode(), join_object(encoded), new.user_id.encode(), new.metadata))
        return commands.send(
            self.storage,
            self.key,
            self.program,
            parts,
            encoded,
            new=new,
            mutation=Mutation(request_id or "", expected_version, body),
            options=self._run_options({"on_busy": on_busy, "busy_timeout": busy_timeout, "limits": limits}),
        )

    send = replying(stream, "send", "Sends a message and runs its turn. Takes what `stream` takes.")

    decide = replying(
        RunHandle.stream_decide, "decide", "Decides approvals, all or none. Takes what `stream_decide` takes."
    )
    approve = replying(
        RunHandle.stream_approve, "approve", "Approves tool calls, or without ids all that the thread waits for."
    )
    reject = replying(
        RunHandle.stream_reject, "reject", "Rejects with a reason, or without ids all that the thread waits for."
    )
    resume = replying(RunHandle.stream_resume, "resume", "Answers the one pause that the thread waits with.")
    retry = replying(
        RunHandle.stream_retry, "retry", "Continues a failed, cancelled or interrupted run where it stopped."
    )

    stream_sync = blocking_iterator(stream)
    send_sync = blocking(send)
    decide_sync = blocking(decide)
    approve_sync = blocking(approve)
    reject_sync = blocking(reject)
    resume_sync = blocking(resume)
    retry_sync = blocking(retry)
