"""The port's `Approvals`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clew_storage.records import ApprovalRecord, ApprovalState, ThreadKey


class Approvals(Protocol):
    """Questions to people, within a thread and across threads."""

    async def get_approval(self, tenant: str, approval_id: str) -> ApprovalRecord | None:
        """An approval in whatever state, or None."""

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
        """Approvals by creation, oldest first, ties by id; no states means all.

        `after` is the `(created_at_ms, id)` of the last one already seen. `user_id` and `app` are the thread's.
        """

    async def list_expired(self, *, now_ms: int, limit: int) -> Sequence[ApprovalRecord]:
        """Pending approvals of every tenant with `expires_at_ms <= now_ms`: by expiry, oldest first, ties by id."""
