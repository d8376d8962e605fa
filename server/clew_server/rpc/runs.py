"""RunService: starts, continues, watches and stops runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from grpc.aio import ServicerContext

from clew.v1 import run_service_pb2 as pb
from clew.v1.run_service_pb2_grpc import RunServiceServicer
from clew_engine import commands
from clew_engine.errors import ArgumentInvalidError, StreamCutError
from clew_engine.options import NewThread
from clew_engine.program import Program
from clew_engine.state import parse_state
from clew_engine.stateless import Seal, resume_stateless, send_stateless
from clew_engine.storage import Storage
from clew_engine.streams import EventStream
from clew_engine.watch import watch_stream
from clew_engine.workflows.resuming import Answer
from clew_engine.workflows.snapshots import parse_snapshot
from clew_server.rpc.served_apps import ServedApps
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.checkpoints import to_checkpoint
from clew_server.rpc.wire.content import content_of
from clew_server.rpc.wire.decisions import decision_of
from clew_server.rpc.wire.events import Response, to_responses
from clew_server.rpc.wire.options import mutation_of, run_options_of, write_options_of
from clew_server.sealing import Seals
from clew_storage import ThreadKey

R = TypeVar("R", bound=Response)


class RunService(RunServiceServicer):
    """Every streaming call leaves its stream when the caller does; the call's options say what that means for the run.

    A streaming handler gives the one generator that reads the stream: through a second one neither a close nor an error would reach it.
    """

    def __init__(self, storage: Storage, apps: ServedApps, seals: Seals) -> None:
        self._storage = storage
        self._apps = apps
        self._seals = seals

    def Send(
        self, request: pb.SendRequest, context: ServicerContext[pb.SendRequest, AsyncIterator[pb.SendResponse]]
    ) -> AsyncGenerator[pb.SendResponse, None]:
        """One turn, on a thread or without one."""
        return _responses(lambda: self._sent(request, context), pb.SendResponse)

    def Decide(
        self, request: pb.DecideRequest, context: ServicerContext[pb.DecideRequest, AsyncIterator[pb.DecideResponse]]
    ) -> AsyncGenerator[pb.DecideResponse, None]:
        """Answers to approvals, of a thread or a snapshot."""
        decisions = [decision_of(decision) for decision in request.decisions]
        if request.snapshot:
            return _responses(lambda: self._resumed(request, decisions, context), pb.DecideResponse)
        stream = commands.decide(
            self._storage,
            _key(request, context),
            self._apps.program,
            decisions,
            mutation=mutation_of(request),
            options=run_options_of(request.options, context),
        )
        return _responses(lambda: _ready(stream), pb.DecideResponse)

    def Resume(
        self, request: pb.ResumeRequest, context: ServicerContext[pb.ResumeRequest, AsyncIterator[pb.ResumeResponse]]
    ) -> AsyncGenerator[pb.ResumeResponse, None]:
        """An answer to the one pause that waits, or a snapshot goes on."""
        if request.HasField("snapshot"):
            answer = request.value_json or None
            return _responses(lambda: self._resumed(request, answer, context), pb.ResumeResponse)
        stream = commands.resume(
            self._storage,
            _key(request, context),
            self._apps.program,
            request.value_json,
            mutation=mutation_of(request),
            options=run_options_of(request.options, context),
        )
        return _responses(lambda: _ready(stream), pb.ResumeResponse)

    def Retry(
        self, request: pb.RetryRequest, context: ServicerContext[pb.RetryRequest, AsyncIterator[pb.RetryResponse]]
    ) -> AsyncGenerator[pb.RetryResponse, None]:
        """A failed or interrupted run goes on."""
        stream = commands.retry(
            self._storage,
            _key(request, context),
            self._apps.program,
            mutation=mutation_of(request),
            options=run_options_of(request.options, context),
        )
        return _responses(lambda: _ready(stream), pb.RetryResponse)

    def Watch(
        self, request: pb.WatchRequest, context: ServicerContext[pb.WatchRequest, AsyncIterator[pb.WatchResponse]]
    ) -> AsyncGenerator[pb.WatchResponse, None]:
        """What was missed, then what happens."""
        stream = watch_stream(
            self._storage,
            _key(request, context),
            uid=request.thread_uid,
            after_version=request.after_version,
            run_id=request.run_id,
            follow=request.follow,
        )
        return _responses(lambda: _ready(stream), pb.WatchResponse)

    async def CancelRun(self, request: pb.CancelRunRequest, context: ServicerContext[Any, Any]) -> pb.CancelRunResponse:
        """Stops a run, and answers when that is written."""
        key = _key(request, context)
        async with self._storage.calling(key):
            checkpoint = await commands.cancel(
                self._storage,
                key,
                request.run_id,
                request.started_by_request_id,
                mutation=mutation_of(request),
                options=write_options_of(request, context),
            )
        return pb.CancelRunResponse(checkpoint=to_checkpoint(checkpoint))

    async def _sent(self, request: pb.SendRequest, context: ServicerContext[Any, Any]) -> EventStream:
        key = _key(request, context)
        options = run_options_of(request.options, context)
        content = content_of(request)
        most = self._storage.tuning.state_limit
        values = parse_state(request.input_json, "input_json", most) | parse_state(request.state_json, limit=most)
        async with self._storage.calling(key):
            program = await self._apps.program_for(self._storage, key if request.thread_id else None, request.app)
        if request.WhichOneof("input") == "input_json" and program.kind == "agent":
            raise ArgumentInvalidError("input_json", f"{program.name!r} is an agent, which takes `text` or `content`")
        if not request.thread_id:
            seal = self._seal(program, context)
            return send_stateless(self._storage, program, content, values, options=options, seal=seal)
        return commands.send(
            self._storage,
            key,
            program,
            content,
            values,
            new=NewThread(request.user_id, metadata=(request.metadata_json or "{}").encode()),
            mutation=mutation_of(request),
            options=options,
        )

    async def _resumed(
        self,
        request: pb.DecideRequest | pb.ResumeRequest,
        answer: Answer,
        context: ServicerContext[Any, Any],
    ) -> EventStream:
        app, opened = self._seals.open(tenant_of(context), request.snapshot)
        snapshot = parse_snapshot(opened, request.app or app)
        program = self._apps.program(app)
        options = run_options_of(request.options, context)
        seal = self._seal(program, context)
        return resume_stateless(self._storage, program, snapshot, answer, options=options, seal=seal)

    def _seal(self, program: Program, context: ServicerContext[Any, Any]) -> Seal:
        tenant = tenant_of(context)
        return lambda snapshot: self._seals.seal(program.name, tenant, snapshot)


def _key(request: Any, context: Any) -> ThreadKey:
    return ThreadKey(tenant_of(context), request.thread_id)


async def _ready(stream: EventStream) -> EventStream:
    return stream


async def _responses(begin: Callable[[], Awaitable[EventStream]], response: type[R]) -> AsyncGenerator[R, None]:
    """Whatever is there when the caller is ready, in as few messages as it fits into."""
    async with aclosing(await begin()) as stream:
        async for batch in stream.batches():
            for filled in to_responses(batch, response):
                try:
                    yield filled
                except StreamCutError:
                    # Its reader does not read: that is no disconnect.
                    stream.detach()
                    raise
