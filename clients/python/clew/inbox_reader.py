"""A stream of the inbox that outlives the connections which carry it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

import grpc

from clew.connection import Connection
from clew.errors import ApprovalNotFoundError, ClewError, UnavailableError
from clew.line import Line, SilentError
from clew.patience import Patience
from clew.records import Approval, approval_of
from clew.refusals import is_break
from clew.v1 import approval_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class ApprovalEvent:
    """Something that happened in the inbox.

    `type` is `pending` (an approval waits), `changed` (it waits no longer; its `state` says why), or `snapshot_end` (all that waited at the beginning
    has been given; it has no approval).
    """

    type: str
    approval: Approval | None = None


class InboxReader:
    """Every connection begins with all that is pending; what the reader has is not given again, and what vanished meanwhile is looked up."""

    def __init__(self, connect: Callable[[], Connection], request: pb.WatchApprovalsRequest) -> None:
        self._connect = connect
        self._request = request
        self._line: Line[pb.WatchApprovalsResponse] | None = None
        self._patience: Patience | None = None
        self._waiting: dict[str, Approval] = {}
        self._listed: set[str] | None = None
        self._marked = False
        self._left = False

    async def read(self) -> list[ApprovalEvent]:
        """The next events; never none."""
        connection = self._connect()
        connection.open.add(self)
        patience = self._patience = self._patience or Patience(connection.settings)
        while True:
            if self._left:
                raise ClewError("the stream was left while it was read", code="stream_left")
            try:
                response = await self._next(connection)
            except (grpc.aio.AioRpcError, SilentError) as broken:
                await self._mend(patience, broken)
                continue
            if response is None:
                await self._mend(patience, None)
                continue
            patience.heard()
            events = [event for wire in response.events for event in await self._take(connection, wire)]
            if events:
                return events

    async def leave(self) -> None:
        """Leaving has no effect on anything."""
        self._left = True
        self.close()

    def close(self) -> None:
        """Give up the call that is open, if any."""
        if self._line is not None:
            self._line.close()
            self._line = None
        self._connect().open.discard(self)

    async def _next(self, connection: Connection) -> pb.WatchApprovalsResponse | None:
        if self._line is None:
            self._listed = set()
            call = connection.approvals.WatchApprovals(self._request, metadata=connection.metadata())
            self._line = Line(call)
        return await self._line.read(connection.settings.silence_timeout)

    async def _mend(self, patience: Patience, broken: Exception | None) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._left:
            return
        error: ClewError = UnavailableError("the inbox broke off, and could not be joined again in time")
        mendable = True
        if isinstance(broken, grpc.aio.AioRpcError):
            error, mendable = self._connect().error_of(broken), is_break(broken)
        pause = patience.pause() if mendable else None
        if pause is None:
            raise error from None
        await asyncio.sleep(pause)

    async def _take(self, connection: Connection, wire: pb.ApprovalEvent) -> list[ApprovalEvent]:
        kind = wire.WhichOneof("payload")
        if kind == "pending":
            return self._pending(approval_of(wire.pending))
        if kind == "changed":
            self._waiting.pop(wire.changed.id, None)
            return [ApprovalEvent("changed", approval_of(wire.changed))]
        if kind == "snapshot_end":
            return await self._mark(connection)
        return []

    def _pending(self, approval: Approval) -> list[ApprovalEvent]:
        if self._listed is not None:
            self._listed.add(approval.id)
        if approval.id in self._waiting:
            return []
        self._waiting[approval.id] = approval
        return [ApprovalEvent("pending", approval)]

    async def _mark(self, connection: Connection) -> list[ApprovalEvent]:
        listed, self._listed = self._listed or set(), None
        gone = [approval for approval_id, approval in self._waiting.items() if approval_id not in listed]
        found = [ApprovalEvent("changed", await _ended(connection, approval)) for approval in gone]
        for approval in gone:
            del self._waiting[approval.id]
        first, self._marked = not self._marked, True
        return [*found, *([ApprovalEvent("snapshot_end")] if first else [])]


async def list_approvals(connection: Connection, request: pb.ListApprovalsRequest, limit: int | None) -> list[Approval]:
    """Pages, read to their end or to the limit."""
    found: list[Approval] = []
    while limit is None or len(found) < limit:
        request.page_size = 200 if limit is None else min(200, limit - len(found))
        page = await connection.ask(connection.approvals.ListApprovals, request)
        found += map(approval_of, page.approvals)
        request.page_token = page.next_page_token
        if not page.next_page_token:
            break
    return found


async def get_approval(connection: Connection, approval_id: str) -> Approval:
    """One approval, in whatever state. Raises ApprovalNotFoundError."""
    request = pb.GetApprovalRequest(approval_id=approval_id)
    return approval_of((await connection.ask(connection.approvals.GetApproval, request)).approval)


async def _ended(connection: Connection, approval: Approval) -> Approval:
    """How an approval that waits no longer ended; void where its thread is gone."""
    try:
        return await get_approval(connection, approval.id)
    except ApprovalNotFoundError:
        return replace(approval, state="void")
