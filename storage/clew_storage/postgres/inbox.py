"""The port's `Approvals` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.postgres import approvals
from clew_storage.postgres.sessions import Session
from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey


class PostgresApprovals:
    """`session` raises when the backend is not open."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session

    async def get_approval(self, tenant: str, approval_id: str) -> ApprovalRecord | None:
        """See the port."""
        session = self._session()
        return await session.read(
            lambda connection: approvals.get_approval(connection, session.schema, tenant, approval_id)
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
        session = self._session()
        return await session.read(
            lambda connection: approvals.list_approvals(
                connection,
                session.schema,
                tenant,
                key=key,
                states=states,
                user_id=user_id,
                app=app,
                after=after,
                limit=limit,
            )
        )

    async def list_expired(self, *, now_ms: int, limit: int) -> Sequence[ApprovalRecord]:
        """See the port."""
        session = self._session()
        return await session.read(lambda connection: approvals.list_expired(connection, session.schema, now_ms, limit))
