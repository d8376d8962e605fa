"""The handles of a workflow and of its threads."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from clew.argument_checks import checked
from clew.attempts import Attempt
from clew.blocking import blocking, iterating
from clew.options import Limits
from clew.records import Approval
from clew.replies import named
from clew.requests import RunArguments, send_request
from clew.snapshots import SnapshotVerbs
from clew.streams import EventStream
from clew.thread import Handle

P = ParamSpec("P")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Result:
    """How a workflow's run stands: its state, and with status `suspended` what is asked (`approvals`).

    Of a run without a thread `snapshot` is then what `resume` and `decide` go on from: bytes that the server sealed, to be kept anywhere.
    """

    thread_id: str
    run_id: str
    version: int
    status: str
    state: dict[str, Any]
    steps: int = 0
    approvals: tuple[Approval, ...] = ()
    snapshot: bytes = b""


def resulting(
    verb: Callable[Concatenate[S, P], EventStream], name: str, doc: str
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, Result]]:
    """From a verb that streams to the one that reads to its end: a Result, or the error that the run failed with."""

    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        # The verb may be of a class above the handle's.
        handle: Any = self
        ended = await verb(self, *args, **kwargs).ended()
        reply = ended.reply
        return Result(
            thread_id=reply.thread_id,
            run_id=reply.run_id,
            version=reply.version,
            status=reply.status,
            state=await handle.state(ended.checkpoint_id) if ended.state is None else ended.state,
            steps=reply.steps,
            approvals=reply.approvals,
            snapshot=reply.snapshot,
        )

    return named(call, verb, name, doc, "Result")


class WorkflowThread(Handle):
    """One durable run history of a workflow. The verbs that go on with a run end with its Result; their `stream` forms give events."""

    @checked
    def stream(
        self,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        user_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[RunArguments],
    ) -> EventStream:
        """Begins a run and streams it; `values` are merged into the state that the thread has."""
        frame = self._frame(**options)
        return self._attempt("Send", send_request(frame, self.app, dict(values or {}), {}, user_id, metadata), frame)

    async def result(self) -> Result:
        """How the newest run stands now."""
        newest = (await self.history(1))[0]
        return Result(
            thread_id=self.id,
            run_id=newest["run_id"],
            version=newest["version"],
            status=newest["status"],
            state=await self.state(newest["id"]),
            steps=newest["step"],
            approvals=tuple(await self.approvals()),
        )

    run = resulting(stream, "run", "Runs to the end or the first pause.")
    decide = resulting(Handle.stream_decide, "decide", "Decides approvals and pauses, all or none.")
    approve = resulting(Handle.stream_approve, "approve", "Approves tool calls, or without ids all that wait.")
    reject = resulting(Handle.stream_reject, "reject", "Rejects with a reason, or without ids all that wait.")
    resume = resulting(Handle.stream_resume, "resume", "Answers the one pause that waits.")
    retry = resulting(Handle.stream_retry, "retry", "Continues a failed or interrupted run where it stopped.")

    stream_sync = iterating(stream)
    run_sync = blocking(run)
    result_sync = blocking(result)
    decide_sync = blocking(decide)
    approve_sync = blocking(approve)
    reject_sync = blocking(reject)
    resume_sync = blocking(resume)
    retry_sync = blocking(retry)


class WorkflowHandle(SnapshotVerbs):
    """A workflow by its name. It runs on threads, or without one: then nothing is stored, and leaving the stream cancels the run."""

    @checked
    def thread(self, thread_id: str, actor: str | None = None) -> WorkflowThread:
        """A handle on a durable run history of this workflow. `actor` is on whose behalf it is used."""
        return WorkflowThread(self._client, thread_id, self.name, actor or "")

    @checked
    def stream(
        self,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        limits: Limits | None = None,
        timeout: float | None = None,
    ) -> EventStream:
        """Runs the workflow once, without a thread, and streams what happens."""
        request = send_request(self._frame(limits), self.name, dict(values or {}), {}, None, None)
        return EventStream(Attempt(self._client.connection, "Send", request, timeout=timeout))

    run = resulting(stream, "run", "Runs once with nothing kept, to the end or the first pause.")
    resume = resulting(SnapshotVerbs.stream_resume, "resume", "Continues a run without a thread from its snapshot.")
    decide = resulting(
        SnapshotVerbs.stream_decide, "decide", "Decides approvals of a run without a thread, from its snapshot."
    )
    stream_sync = iterating(stream)
    run_sync = blocking(run)
    resume_sync = blocking(resume)
    decide_sync = blocking(decide)
