"""What goes when its time is over, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from clew_storage.lines import contains, since, trimmed
from clew_storage.local_leases import LocalLeases
from clew_storage.memory.tables import StoredThread, Tables, Tombstone
from clew_storage.records import (
    ApprovalRecord,
    ApprovalState,
    IdleFilter,
    Status,
    ThreadKey,
    ThreadRecord,
    Trim,
)
from clew_storage.state_changes import Delta


class MemoryRetention:
    """Implements the port's `Retention`; `tables` raises when the backend is not open."""

    def __init__(self, tables: Callable[[], Tables], leases: LocalLeases) -> None:
        self._tables = tables
        self._leases = leases

    async def list_idle(self, where: IdleFilter, *, after: ThreadKey | None, limit: int) -> Sequence[ThreadRecord]:
        """See the port."""
        found = (
            thread.record
            for key, thread in self._tables().threads.items()
            if self._leases.holder(key) is None
            and (after is None or _name(key) > _name(after))
            and _passes(thread, where)
        )
        return sorted(found, key=lambda record: _name(record.key))[:limit]

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """See the port."""
        tables = self._tables()
        gone = []
        for judged in threads:
            thread = tables.threads.get(judged.key)
            if thread is None or thread.pending() or self._leases.holder(judged.key) is not None:
                continue
            found = thread.record
            if (found.uid, found.head_version, found.updated_at_ms) == (
                judged.uid,
                judged.head_version,
                judged.updated_at_ms,
            ):
                tables.bury(thread, Tombstone(self._leases.next_epoch(), now_ms))
                gone.append(judged.key)
        return gone

    async def trim_thread(self, trim: Trim) -> bool:
        """See the port."""
        tables = self._tables()
        thread = tables.incarnation(trim.key, trim.uid)
        oldest = trim.oldest_version
        if (
            thread is None
            or thread.record.head_version != trim.head_version
            or self._leases.holder(trim.key) is not None
            or not (oldest > thread.oldest and contains(thread.line, oldest))
        ):
            return False
        _trim(tables, thread, trim)
        return True

    async def forget_leases(self, *, after: ThreadKey | None, limit: int) -> tuple[int, ThreadKey | None]:
        """See the port: nothing is kept of a lease that nobody holds."""
        self._tables()
        return 0, None


def _name(key: ThreadKey) -> tuple[str, str]:
    return key.tenant, key.thread_id


def _passes(thread: StoredThread, where: IdleFilter) -> bool:
    record, info = thread.record, thread.record.info
    status = Status.SUSPENDED if thread.pending() else record.head_status
    return (
        (not where.statuses or status in where.statuses)
        and (where.before_ms is None or record.updated_at_ms < where.before_ms)
        and (not where.apps or info.app in where.apps)
        and (not where.user_ids or info.user_id in where.user_ids)
        and record.head_version - max(thread.oldest - 1, 0) > where.longer_than
    )


def _trim(tables: Tables, thread: StoredThread, trim: Trim) -> None:
    line, oldest = thread.line, trim.oldest_version
    kept = since(line, oldest)
    state = thread.state_at(oldest)
    run = thread.checkpoints[oldest].run_version
    changed = bool(thread.changes)
    thread.checkpoints = {at: each for at, each in thread.checkpoints.items() if contains(kept, at)}
    thread.forks = [fork for fork in thread.forks if contains(kept, fork[0])]
    thread.changes = {at: each for at, each in thread.changes.items() if contains(kept, at) and at > oldest}
    if changed:
        thread.changes = {oldest: Delta(values=dict(state)), **thread.changes}
    thread.head_state = (0, {})
    thread.drop_messages(_unseen(thread, oldest))

    def stays(asked: ApprovalRecord) -> bool:
        known = contains(line, asked.version) and (asked.version >= oldest or asked.run_version == run)
        return known or asked.state is ApprovalState.PENDING

    for asked in [asked for asked in thread.approvals.values() if not stays(asked)]:
        del thread.approvals[asked.id]
        del tables.approval_threads[trim.key.tenant, asked.id]
    for redaction in trim.redactions:
        if told := thread.checkpoints.get(redaction.version):
            thread.checkpoints[redaction.version] = replace(told, body=redaction.body)
    thread.line, thread.oldest = trimmed(line, oldest), oldest


def _unseen(thread: StoredThread, oldest: int) -> set[tuple[int, int]]:
    """Version and position of what no checkpoint from the oldest on sees: messages of other lines, and what was replaced by then."""
    gone = set()
    for position, rows in thread.at_position.items():
        on_line = [row.version for row in rows if contains(thread.line, row.version)]
        seen = [version for version in on_line if version > oldest]
        seen += [version for version in on_line if version <= oldest][-1:]
        gone |= {(row.version, position) for row in rows if row.version not in seen}
    return gone
