"""ApprovalService: what waits for people, across threads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from grpc.aio import ServicerContext

from clew.v1 import approval_service_pb2 as pb
from clew.v1.approval_pb2 import APPROVAL_STATE_UNSPECIFIED, ApprovalState
from clew.v1.approval_service_pb2_grpc import ApprovalServiceServicer
from clew.v1.event_pb2 import Heartbeat
from clew_engine import reads
from clew_engine.approval_feed import ApprovalFilter, ApprovalNews
from clew_engine.storage import Storage
from clew_server.rpc.tenants import tenant_of
from clew_server.rpc.wire.approvals import to_approval
from clew_server.rpc.wire.events import batches
from clew_server.rpc.wire.scalars import word
from clew_storage import ApprovalState as State

_BEAT = pb.ApprovalEvent(heartbeat=Heartbeat())


class ApprovalService(ApprovalServiceServicer):
    """The inbox."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def ListApprovals(
        self, request: pb.ListApprovalsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListApprovalsResponse:
        """Approvals, oldest first."""
        async with self._storage.calling(None):
            page = await reads.list_approvals(
                self._storage,
                tenant_of(context),
                thread_id=request.thread_id,
                user_id=request.user_id,
                app=request.app,
                states=_states(request.state),
                size=request.page_size,
                token=request.page_token,
            )
        return pb.ListApprovalsResponse(
            approvals=map(to_approval, page.items), next_page_token=page.next_token, version=page.version
        )

    async def GetApproval(
        self, request: pb.GetApprovalRequest, context: ServicerContext[Any, Any]
    ) -> pb.GetApprovalResponse:
        """One approval, in whatever state."""
        async with self._storage.calling(None):
            found, version = await reads.get_approval(self._storage, tenant_of(context), request.approval_id)
        return pb.GetApprovalResponse(approval=to_approval(found), version=version)

    async def WatchApprovals(
        self,
        request: pb.WatchApprovalsRequest,
        context: ServicerContext[pb.WatchApprovalsRequest, AsyncIterator[pb.WatchApprovalsResponse]],
    ) -> AsyncGenerator[pb.WatchApprovalsResponse, None]:
        """All that waits, a mark, then changes."""
        where = ApprovalFilter(tenant_of(context), request.thread_id, request.user_id, request.app)
        async with (
            self._storage.calling(None),
            aclosing(self._storage.approval_feed.watch(self._storage, where)) as feed,
        ):
            async for news in feed:
                for events in batches(map(_to_event, news) if news else [_BEAT]):
                    yield pb.WatchApprovalsResponse(events=events)


def _states(state: ApprovalState.ValueType) -> tuple[State, ...]:
    if state == APPROVAL_STATE_UNSPECIFIED:
        return ()
    return (State(word("APPROVAL_STATE", ApprovalState.Name(state))),)


def _to_event(news: ApprovalNews) -> pb.ApprovalEvent:
    if news.approval is None:
        return pb.ApprovalEvent(snapshot_end=pb.ApprovalEvent.SnapshotEnd())
    approval = to_approval(news.approval)
    if news.approval.state is State.PENDING:
        return pb.ApprovalEvent(pending=approval)
    return pb.ApprovalEvent(changed=approval)
