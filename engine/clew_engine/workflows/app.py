"""A compiled workflow: run at once, or on threads of a storage."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, Unpack

from msgspec.structs import replace

from clew_engine import commands
from clew_engine.answers import Decisions, decisions_of
from clew_engine.apps import AppInfo
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking, blocking_iterator
from clew_engine.errors import ArgumentInvalidError, RunFailedError
from clew_engine.ids import check_id
from clew_engine.json_text import join_object
from clew_engine.options import Limits, Mutation, NewThread, OnBusy, RunArguments, RunOptions
from clew_engine.run_handles import RunHandle
from clew_engine.state import encode_values, encoded_value, values_of
from clew_engine.storage import Storage
from clew_engine.streams import EventStream
from clew_engine.workflows.program import WorkflowProgram
from clew_engine.workflows.results import Result, result_of, resulting
from clew_engine.workflows.resuming import Answer, go_on
from clew_engine.workflows.snapshots import parse_snapshot, restore, take
from clew_storage import Status, ThreadKey


class WorkflowThread(RunHandle):
    """One durable run history of a workflow. The verbs that go on with a run end with its Result; their `stream` forms give events."""

    @checked
    def stream(
        self,
        values: Mapping[str, Any] | Any = None,
        /,
        *,
        user_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Unpack[RunArguments],
    ) -> EventStream:
        """Begins a run and streams it; `values` are merged into the state that the thread has."""
        given = {} if values is None else values_of(values)
        if given is None:
            kind = type(values).__name__
            raise ArgumentInvalidError(
                "input", f"a run takes values by their keys (a dict, or what declares the state), and not {kind}"
            )
        encoded = encode_values(given, "input")
        new = NewThread(
            user_id="" if user_id is None else str(user_id),
            metadata=encoded_value(dict(metadata or {}), "metadata_json"),
        )
        body = b"\0".join((join_object(encoded), new.user_id.encode(), new.metadata))
        return commands.send(
            self.storage,
            self.key,
            self.program,
            (),
            encoded,
            new=new,
            mutation=Mutation(options.get("request_id") or "", options.get("expected_version"), body),
            options=self._run_options(options),
        )

    async def result(self) -> Result:
        """How the newest run stands now."""
        newest = (await self.history(1))[0]
        return Result(
            thread_id=self.id,
            run_id=newest["run_id"],
            version=newest["version"],
            status=Status(newest["status"]),
            state=await self.state(newest["id"]),
            steps=newest["step"],
            approvals=tuple(await self.approvals()),
        )

    run = resulting(stream, "run", "Runs to the end or the first pause.")
    decide = resulting(RunHandle.stream_decide, "decide", "Decides approvals and pauses, all or none.")
    approve = resulting(RunHandle.stream_approve, "approve", "Approves tool calls, or without ids all that wait.")
    reject = resulting(RunHandle.stream_reject, "reject", "Rejects with a reason, or without ids all that wait.")
    resume = resulting(RunHandle.stream_resume, "resume", "Answers the one pause that waits.")
    retry = resulting(RunHandle.stream_retry, "retry", "Continues a failed or interrupted run where it stopped.")

    stream_sync = blocking_iterator(stream)
    run_sync = blocking(run)
    result_sync = blocking(result)
    decide_sync = blocking(decide)
    approve_sync = blocking(approve)
    reject_sync = blocking(reject)
    resume_sync = blocking(resume)
    retry_sync = blocking(retry)


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

    @property
    def info(self) -> AppInfo:
        """What the workflow is to those who call it."""
        schema = self.program.keys.schema
        tools = {
            name: tool for node in self.program.nodes.values() for name, tool in getattr(node, "tools", {}).items()
        }
        gated = frozenset(name for node in self.program.nodes.values() for name in getattr(node, "gated", ()))
        return AppInfo(
            name=self.name,
            kind="workflow",
            description=self.description,
            model="",
            tools=tuple(tools.values()),
            gated=gated,
            input_schema=schema,
            state_schema=schema,
        )

    @cached_property
    def storage(self) -> Storage:
        """The storage that was given, or one of the app's own in memory."""
        return self._storage or Storage("memory://")

    @checked
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

    @checked
    async def run(self, values: Mapping[str, Any] | Any = None, /) -> Result:
        """One run with nothing kept. One that pauses or fails has a snapshot (of the Result or the RunFailedError) to go on from."""
        async with self._scratch() as scratch:
            thread = self._thread_in(scratch, ThreadKey("", f"run-{secrets.token_hex(8)}"))
            return await _ended(thread, thread.run(values))

    @checked
    async def resume(self, snapshot: Mapping[str, Any], value: Any = ..., /) -> Result:
        """Goes on with a run from its snapshot: with the answer to the one pause that it waits with, or without a value where it failed.

        Any process can, and any version of the workflow that has the nodes. Of a run whose approvals expired, no value lets them count as rejected.
        """
        answer = None if value is ... else encoded_value(value, "value_json").decode()
        return await self._resumed(snapshot, answer)

    @checked
    async def decide(self, snapshot: Mapping[str, Any], decisions: Decisions, /) -> Result:
        """Goes on with a run from its snapshot, with decisions on what it waits for, all or none.

        `decisions` is what a thread's `decide` takes; it may name the subject of an approval (`pay:0`) in the place of its id.
        """
        return await self._resumed(snapshot, decisions_of(decisions))

    run_sync = blocking(run)
    resume_sync = blocking(resume)
    decide_sync = blocking(decide)

    async def _resumed(self, given: Mapping[str, Any], answer: Answer) -> Result:
        snapshot = parse_snapshot(given, self.name)
        async with self._scratch() as scratch:
            await restore(scratch, snapshot)
            thread = self._thread_in(scratch, snapshot.key)
            stream = go_on(scratch, self.program, snapshot, answer, RunOptions())
            return await _ended(thread, result_of(thread, stream))

    @asynccontextmanager
    async def _scratch(self) -> AsyncGenerator[Storage, None]:
        scratch = self.storage.scratch()
        try:
            yield scratch
        finally:
            self.storage.scratches.discard(scratch)
            await scratch.close()

    def _thread_in(self, scratch: Storage, key: ThreadKey) -> WorkflowThread:
        return WorkflowThread(scratch, key, self.program)


async def _ended(thread: WorkflowThread, run: Awaitable[Result]) -> Result:
    """What a run without a thread hands back, with what is needed to go on with it."""
    try:
        result = await run
    except RunFailedError as error:
        error.snapshot = await _snapshot(thread)
        raise
    if result.status is not Status.SUSPENDED:
        return result
    return replace(result, snapshot=await _snapshot(thread))


async def _snapshot(thread: WorkflowThread) -> dict[str, Any]:
    assert isinstance(thread.program, WorkflowProgram)
    return (await take(thread.storage, thread.key, thread.program)).as_dict()
