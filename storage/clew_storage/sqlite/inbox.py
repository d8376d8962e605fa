"""The port's `Approvals` on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey
from clew_storage.sqlite import approvals
from clew_storage.sqlite.sessions import Session


class SqliteApprovals:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def get_approval(self, tenant: str, approval_id: str) -> ApprovalRecord | None:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: approvals.get_approval(connection, tenant, approval_id)
        )

    async def list_approvals(
        self,
        tenant: str,
        *,
        key: ThreadKey | None = None,
        states: Sequence[ApprovalState] = (),
        user_id: str | None = None,
        app: str | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ApprovalRecord]:
        """See the port."""
        return await self._session().readers.read(
            lambda connection: approvals.list_approvals(
                connection, tenant, key=key, states=states, user_id=user_id, app=app, after=after, limit=limit
            )
        )

    async def list_expired(self, *, now_ms: int, limit: int) -> Sequence[ApprovalRecord]:
        """See the port."""
        return await self._session().readers.read(lambda connection: approvals.list_expired(connection, now_ms, limit))
