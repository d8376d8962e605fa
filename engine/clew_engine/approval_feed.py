"""The inbox's live side: every change of an approval, across threads, to whoever watches their tenant's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from clew_engine.approvals import Approval, view_approval
from clew_engine.errors import StreamCutError
from clew_storage import ApprovalRecord, ApprovalState, ThreadInfo, ThreadKey, Write

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_PAGE = 200
_BEHIND = 10_000
# How many looks of the lookout go by between two of an inbox, which lists all that waits.
_LOOKS = 5


@dataclass(frozen=True, slots=True)
class ApprovalNews:
    """An approval that waits (from the snapshot or new), one that no longer does, or with no approval: the snapshot's end or a heartbeat."""

    approval: Approval | None = None
    snapshot_end: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalFilter:
    """Whose approvals; empty means all of the tenant's."""

    tenant: str = ""
    thread_id: str = ""
    user_id: str = ""
    app: str = ""

    def takes(self, key: ThreadKey, info: ThreadInfo) -> bool:
        """Whether a thread's approvals are asked for."""
        return (
            self.tenant == key.tenant
            and self.thread_id in ("", key.thread_id)
            and self.user_id in ("", info.user_id)
            and self.app in ("", info.app)
        )


class ApprovalFeed:
    """Readers of approvals by tenant. A reader that falls behind is cut off, and begins again with a snapshot."""

    def __init__(self) -> None:
        self._readers: set[tuple[ApprovalFilter, asyncio.Queue[Approval | StreamCutError]]] = set()

    def note(
        self,
        key: ThreadKey,
        info: ThreadInfo,
        write: Write,
        before: Sequence[ApprovalRecord],
    ) -> None:
        """Tell of what a durable write asked, decided or voided; `before` is what waited until then."""
        if not self._readers:
            return
        decided = {decision.approval_id: decision for decision in write.decisions}
        changed = list(write.approvals)
        for record in before:
            decision = decided.get(record.id)
            if decision is not None:
                changed.append(
                    replace(
                        record,
                        state=decision.state,
                        decision=decision.decision,
                        decided_at_ms=write.checkpoint.created_at_ms,
                    )
                )
            elif write.void_approvals:
                changed.append(replace(record, state=ApprovalState.VOID))
        self._push(key, info, changed)

    def forget(self, key: ThreadKey, info: ThreadInfo, waiting: Sequence[ApprovalRecord]) -> None:
        """The thread is gone, and its approvals with it."""
        self._push(key, info, [replace(record, state=ApprovalState.VOID) for record in waiting])

    async def watch(self, storage: Storage, where: ApprovalFilter) -> AsyncGenerator[list[ApprovalNews], None]:
        """All that waits, then the end of the snapshot, then changes as they come; an empty list is a heartbeat."""
        queue: asyncio.Queue[Approval | StreamCutError] = asyncio.Queue(_BEHIND)
        reader = (where, queue)
        self._readers.add(reader)
        try:
            known: dict[str, Approval] = {}
            async for page in _snapshot(storage, where):
                known |= {approval.id: approval for approval in page}
                yield [ApprovalNews(approval) for approval in page]
            yield [ApprovalNews(snapshot_end=True)]
            async for batch in _changes(storage, where, queue, known):
                yield [ApprovalNews(approval) for approval in batch]
        finally:
            self._readers.discard(reader)

    def end(self, reason: str) -> None:
        """End every reader; each starts again elsewhere from a snapshot."""
        for _, queue in self._readers:
            while not queue.empty():
                queue.get_nowait()
            queue.put_nowait(StreamCutError(0, reason))

    def _push(self, key: ThreadKey, info: ThreadInfo, records: Sequence[ApprovalRecord]) -> None:
        for where, queue in tuple(self._readers):
            if not where.takes(key, info):
                continue
            for record in records:
                if queue.full():
                    self._readers.discard((where, queue))
                    queue.get_nowait()
                    queue.put_nowait(StreamCutError(0, "its reader did not keep up"))
                    break
                queue.put_nowait(view_approval(record))


async def _changes(
    storage: Storage, where: ApprovalFilter, queue: asyncio.Queue[Approval | StreamCutError], known: dict[str, Approval]
) -> AsyncGenerator[list[Approval], None]:
    """What this server's writes change, and on a shared database what the others' do; an empty list is a heartbeat."""
    beat = storage.tuning.heartbeat_s
    patience = min(beat, _LOOKS * storage.tuning.look_s) if storage.backend.shared else beat
    silent = 0.0
    while True:
        batch = [approval for approval in await _take(queue, patience) if _is_news(approval, known)]
        if not batch and storage.backend.shared:
            batch = await _elsewhere(storage, where, known)
        silent = 0.0 if batch else silent + patience
        for approval in batch:
            if approval.state is ApprovalState.PENDING:
                known[approval.id] = approval
            else:
                known.pop(approval.id, None)
        if batch or silent >= beat:
            silent = 0.0
            yield batch


def _is_news(approval: Approval, known: dict[str, Approval]) -> bool:
    """Not yet told: the database may have been looked at before the write's own word came."""
    return (approval.id in known) != (approval.state is ApprovalState.PENDING)


async def _elsewhere(storage: Storage, where: ApprovalFilter, known: dict[str, Approval]) -> list[Approval]:
    """What other servers have asked, and what became of what is known to wait."""
    waiting = {approval.id: approval async for page in _snapshot(storage, where) for approval in page}
    changed = [approval for approval in waiting.values() if approval.id not in known]
    for approval in known.values():
        if approval.id not in waiting:
            found = await storage.backend.approvals.get_approval(where.tenant, approval.id)
            changed.append(view_approval(found) if found else replace(approval, state=ApprovalState.VOID))
    return [approval for approval in changed if _is_news(approval, known)]


async def _snapshot(storage: Storage, where: ApprovalFilter) -> AsyncGenerator[list[Approval], None]:
    after: tuple[int, str] | None = None
    while True:
        records = await storage.backend.approvals.list_approvals(
            where.tenant,
            key=ThreadKey(where.tenant, where.thread_id) if where.thread_id else None,
            states=(ApprovalState.PENDING,),
            user_id=where.user_id or None,
            app=where.app or None,
            after=after,
            limit=_PAGE,
        )
        if records:
            yield [view_approval(record) for record in records]
        if len(records) < _PAGE:
            return
        after = (records[-1].created_at_ms, records[-1].id)


async def _take(queue: asyncio.Queue[Approval | StreamCutError], timeout_s: float) -> list[Approval]:
    try:
        async with asyncio.timeout(timeout_s):
            waiting = [await queue.get()]
    except TimeoutError:
        return []
    while not queue.empty():
        waiting.append(queue.get_nowait())
    for item in waiting:
        if isinstance(item, StreamCutError):
            raise item
    return [item for item in waiting if isinstance(item, Approval)]
