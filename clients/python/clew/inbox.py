"""The inbox: what waits for people, across threads."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from clew.argument_checks import check_limit, checked
from clew.blocking import blocking, iterating
from clew.inbox_reader import ApprovalEvent, InboxReader, get_approval, list_approvals
from clew.records import Approval
from clew.streams import Stream
from clew.v1 import approval_pb2
from clew.v1 import approval_service_pb2 as pb
from clew.words import number_of

if TYPE_CHECKING:
    from clew.client import Client


class Approvals:
    """What waits for people."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @checked
    async def list(
        self,
        limit: int | None = None,
        *,
        thread_id: str = "",
        app: str = "",
        user_id: str | int | None = None,
        state: str = "",
    ) -> builtins.list[Approval]:
        """Approvals that meet all that is asked, oldest first: pending ones unless another `state` is given."""
        check_limit(limit)
        request = pb.ListApprovalsRequest(
            thread_id=thread_id,
            app=app,
            user_id="" if user_id is None else str(user_id),
            state=number_of(approval_pb2.ApprovalState, state, "state"),
        )
        return await list_approvals(self._client.connection(), request, limit)

    @checked
    async def get(self, approval_id: str) -> Approval:
        """One approval, whether it waits or how it ended. Raises ApprovalNotFoundError, also where its thread was deleted."""
        return await get_approval(self._client.connection(), approval_id)

    @checked
    def watch(self, *, thread_id: str = "", app: str = "", user_id: str | int | None = None) -> Stream[ApprovalEvent]:
        """Streams the inbox: all that is pending, a mark, then every change, until the reader leaves. Each is given once, whatever breaks."""
        request = pb.WatchApprovalsRequest(
            thread_id=thread_id, app=app, user_id="" if user_id is None else str(user_id)
        )
        return Stream(InboxReader(self._client.connection, request))

    list_sync = blocking(list)  # noqa: A003  # the method is meant
    get_sync = blocking(get)
    watch_sync = iterating(watch)
