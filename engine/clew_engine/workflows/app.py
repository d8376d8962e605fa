"""A compiled workflow: run at once, or on threads of a storage."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clew_engine import commands
from clew_engine.approvals import Approval
from clew_engine.blocking import blocking, blocking_iterator
from clew_engine.errors import ThreadSuspendedError
from clew_engine.ids import check_id
from clew_engine.json_text import join_object
from clew_engine.options import Limits, Mutation, NewThread, OnBusy
from clew_engine.replies import Reply
from clew_engine.state import encode_values
from clew_engine.storage import Storage
from clew_engine.streams import EventStream
from clew_engine.threads import Thread
from clew_engine.workflows.program import WorkflowProgram
from clew_storage import Status, ThreadKey


@dataclass(frozen=True, slots=True)
class Result:
    """How a run stands: its state, and with status `suspended` what is asked (`approvals`)."""

    thread_id: str
    run_id: str
    version: int
    status: Status
    state: Mapping[str, Any]
    steps: int = 0
    approvals: tuple[Approval, ...] = ()


class WorkflowThread(Thread):
    """A handle on one durable run history of a workflow. The verbs that go on with a run answer with its `Reply`; `result` reads its state."""

    def stream_run(
        self, values: Mapping[str, Any] | None = None, /, *, request_id: str = "", expected_version: int | None = None
    ) -> EventStream:
        """A run on these values, as events; they are merged into the state that the thread has."""
        encoded = encode_values(values or {}, "input")
        mutation = Mutation(request_id, expected_version, join_object(encoded))
        return commands.send(
            self.storage,
            self.key,
            self.program,
            (),
            encoded,
            new=NewThread(),
            mutation=mutation,
            options=self._options,
        )

    async def run(
        self, values: Mapping[str, Any] | None = None, /, *, request_id: str = "", expected_version: int | None = None
    ) -> Result:
        """A run on these values, to its end or its first pause. Raises RunFailedError when it failed."""
        return await self._result(
            await self.stream_run(values, request_id=request_id, expected_version=expected_version).reply()
        )

    async def result(self) -> Result:
        """How the newest run stands now."""
        info = await self.info()
        state = await self.state()
        history = await self.history(1)
        return Result(
            thread_id=self.id,
            run_id=history[0]["run_id"],
            version=info["version"],
            status=Status(info["status"]),
            state=state,
            steps=history[0]["step"],
            approvals=tuple(await self.approvals()),
        )

    run_sync = blocking(run)
    stream_run_sync = blocking_iterator(stream_run)
    result_sync = blocking(result)

    async def _result(self, reply: Reply) -> Result:
        return Result(
            thread_id=self.id,
            run_id=reply.run_id,
            version=reply.version,
            status=reply.status,
            state=await self.state(f"{reply.thread_uid}.{reply.version}"),
            steps=reply.steps,
            approvals=reply.approvals,
        )


class WorkflowApp:
    """What `Workflow.compile` gives."""

    def __init__(self, program: WorkflowProgram, storage: Storage | None, description: str) -> None:
        self.program = program
        self.description = description
        self._storage = storage

    @property
    def name(self) -> str:
        """The app that its threads belong to."""
        return self.program.name

    @cached_property
    def storage(self) -> Storage:
        """The storage that was given, or one of the app's own in memory."""
        return self._storage or Storage("memory://")

    def thread(
        self,
        thread_id: str,
        actor: str | None = None,
        *,
        tenant: str = "",
        on_busy: OnBusy | str | None = None,
        busy_timeout: float | None = None,
        limits: Limits | None = None,
    ) -> WorkflowThread:
        """A handle on a durable run history; its first run makes the thread."""
        return WorkflowThread(
            self.storage,
            ThreadKey(tenant, check_id(thread_id, "thread_id")),
            self.program,
            actor=actor or "",
            on_busy=on_busy,
            busy_timeout=busy_timeout,
            limits=limits,
        )

    async def run(self, values: Mapping[str, Any] | None = None, /) -> Result:
        """One run with nothing kept. Raises ThreadSuspendedError when it pauses: that takes a thread."""
        scratch = self.storage.scratch()
        thread = WorkflowThread(scratch, ThreadKey("", f"run-{secrets.token_hex(8)}"), self.program)
        try:
            result = await thread.run(values)
        finally:
            self.storage.scratches.discard(scratch)
            await scratch.close()
        if result.status is Status.SUSPENDED:
            raise ThreadSuspendedError(result.thread_id, tuple(approval.id for approval in result.approvals))
        return result

    run_sync = blocking(run)
