"""The in-process handle on the inbox: what waits for people, across threads. The same verbs as the client's."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from clew_engine import reads
from clew_engine.approvals import Approval
from clew_engine.argument_checks import checked
from clew_engine.blocking import blocking
from clew_engine.field_rules import word_of
from clew_engine.ids import check_id
from clew_engine.paging import check_limit
from clew_storage import ApprovalState

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 200


class Approvals:
    """What waits for people. It is answered on its thread: `thread.decide`, `approve`, `reject`, `resume`."""

    def __init__(self, storage: Storage, tenant: str = "") -> None:
        self.storage = storage
        self._tenant = tenant

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
        wanted = word_of(ApprovalState, state, "state")
        found: builtins.list[Approval] = []
        token = ""
        async with self.storage.calling(None):
            while limit is None or len(found) < limit:
                page = await reads.list_approvals(
                    self.storage,
                    self._tenant,
                    thread_id=thread_id,
                    user_id="" if user_id is None else str(user_id),
                    app=app,
                    states=() if wanted is None else (wanted,),
                    size=_PAGE if limit is None else min(_PAGE, limit - len(found)),
                    token=token,
                )
                found += page.items
                token = page.next_token
                if not token:
                    break
        return found

    @checked
    async def get(self, approval_id: str) -> Approval:
        """One approval, whether it waits or how it ended. Raises ApprovalNotFoundError, also where its thread was deleted."""
        check_id(approval_id, "approval_id")
        async with self.storage.calling(None):
            found, _ = await reads.get_approval(self.storage, self._tenant, approval_id)
        return found

    list_sync = blocking(list)  # noqa: A003  # the method is meant
    get_sync = blocking(get)
