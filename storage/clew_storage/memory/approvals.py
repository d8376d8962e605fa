"""Approvals in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clew_storage.memory.tables import Tables
from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey


class MemoryApprovals:
    """Implements the port's `Approvals`."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    async def get_approval(self, tenant: str, approval_id: str) -> ApprovalRecord | None:
        """See the port."""
        tables = self._tables()
        key = tables.approval_threads.get((tenant, approval_id))
        return tables.threads[key].approvals[approval_id] if key else None

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
        tables = self._tables()

        def wanted(asked: ApprovalRecord) -> bool:
            info = tables.threads[asked.key].record.info
            return (
                asked.key.tenant == tenant
                and key in {None, asked.key}
                and (not states or asked.state in states)
                and user_id in {None, info.user_id}
                and app in {None, info.app}
                and (after is None or (asked.created_at_ms, asked.id) > after)
            )

        found = filter(wanted, tables.approvals())
        return sorted(found, key=lambda asked: (asked.created_at_ms, asked.id))[:limit]

    async def list_expired(self, *, now_ms: int, limit: int) -> Sequence[ApprovalRecord]:
        """See the port."""
        found = [
            (asked.expires_at_ms, asked.id, asked)
            for asked in self._tables().approvals()
            if asked.state is ApprovalState.PENDING and asked.expires_at_ms is not None
        ]
        over = sorted(entry for entry in found if entry[0] <= now_ms)
        return [asked for _, _, asked in over[:limit]]
