"""WorkerService: tools that run in processes of their own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import worker_service_pb2 as pb
from clew.v1.worker_service_pb2_grpc import WorkerServiceServicer
from clew_engine import call_outcomes
from clew_engine.errors import CallNotPendingError
from clew_engine.paging import page_size
from clew_engine.storage import Storage
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.events import fitting
from clew_server.rpc.wire.scalars import VALUE_BYTES, milliseconds
from clew_server.rpc.wire.workers import call_of, record_from, result_of, to_ready, to_responses, to_revoked, to_worker

Context = ServicerContext[Any, Any]
_LISTING = ("workers",)


class WorkerService(WorkerServiceServicer):
    """Calls go out by a stream, and everything else comes by calls beside it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def Work(
        self, request: pb.WorkRequest, context: ServicerContext[pb.WorkRequest, AsyncIterator[pb.WorkResponse]]
    ) -> AsyncGenerator[pb.WorkResponse, None]:
        """Calls, as long as the stream is open."""
        tenant = tenant_of(context)
        worker = record_from(request, tenant, self._storage.now_ms())
        held = [call_of(name, tenant) for name in request.held]
        ready: pb.WorkResponse.Ready | None = to_ready(self._storage.tuning.call_lease_s)
        async with self._storage.calling(None), aclosing(self._storage.workers.work(worker, held)) as work:
            async for told in work:
                for response in to_responses(told, ready):
                    yield response
                ready = None

    async def RenewCalls(self, request: pb.RenewCallsRequest, context: Context) -> pb.RenewCallsResponse:
        """The leases of calls that are being worked on."""
        tenant = tenant_of(context)
        calls = [call_of(name, tenant) for name in request.calls]
        async with self._storage.calling(None):
            revoked = await self._storage.workers.renew(tenant, request.worker_id, calls)
        return pb.RenewCallsResponse(revoked=map(to_revoked, revoked.items()))

    async def ReportProgress(self, request: pb.ReportProgressRequest, context: Context) -> pb.ReportProgressResponse:
        """How far a call is."""
        call = call_of(request.call, tenant_of(context))
        async with self._storage.calling(call.key):
            if not await self._storage.workers.report(request.worker_id, call, request.progress_json.encode()):
                raise CallNotPendingError(call.name)
        return pb.ReportProgressResponse()

    async def FinishCall(self, request: pb.FinishCallRequest, context: Context) -> pb.FinishCallResponse:
        """What came of a call, durably."""
        call = call_of(request.call, tenant_of(context))
        result = result_of(request)
        again_ms = milliseconds(request.error.retry_after) if request.error.retryable else None
        async with self._storage.calling(call.key):
            retried = await call_outcomes.finish(self._storage, request.worker_id, call, result, again_ms=again_ms)
        return pb.FinishCallResponse(retried=retried)

    async def DrainWorker(self, request: pb.DrainWorkerRequest, context: Context) -> pb.DrainWorkerResponse:
        """No more calls."""
        async with self._storage.calling(None):
            known = await self._storage.workers.drain(tenant_of(context), request.worker_id)
        return pb.DrainWorkerResponse(known=known)

    async def ListWorkers(self, request: pb.ListWorkersRequest, context: Context) -> pb.ListWorkersResponse:
        """A page of workers."""
        limit = page_size(request.page_size, 50, 200)
        listing = (*_LISTING, request.tool)
        tokens = self._storage.page_tokens
        async with self._storage.calling(None):
            place = await tokens.place(request.page_token, listing)
            found = await self._storage.backend.exchange.list_workers(
                tenant_of(context),
                tools=[request.tool] if request.tool else [],
                after=None if place is None else str(place[0]),
                limit=limit + 1,
                now_ms=self._storage.now_ms(),
            )
            workers = fitting(map(to_worker, found[:limit]), VALUE_BYTES)
            more = len(workers) < len(found)
            following = await tokens.make(listing, (workers[-1].worker_id,)) if more else ""
        return pb.ListWorkersResponse(workers=workers, next_page_token=following)
