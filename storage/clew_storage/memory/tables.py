"""What the memory backend holds. All changes happen between two awaits, so each is atomic by itself."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from clew_storage.errors import RequestRecorded
from clew_storage.lines import Line, contains, line_of, trimmed, truncate
from clew_storage.records import (
    ApprovalRecord,
    ApprovalState,
    CachedValue,
    CacheKey,
    CheckpointRecord,
    MessageRecord,
    RequestRecord,
    ThreadKey,
    ThreadRecord,
)
from clew_storage.state_changes import Delta, apply_delta


@dataclass(slots=True)
class StoredThread:
    """One thread with all that belongs to it: checkpoints in version order, approvals as they were asked."""

    record: ThreadRecord
    line: Line = ()
    forks: list[tuple[int, int]] = field(default_factory=list)
    checkpoints: dict[int, CheckpointRecord] = field(default_factory=dict)
    messages: dict[int, tuple[MessageRecord, ...]] = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)
    at_position: dict[int, list[MessageRecord]] = field(default_factory=dict)
    changes: dict[int, Delta] = field(default_factory=dict)
    approvals: dict[str, ApprovalRecord] = field(default_factory=dict)
    cancel: tuple[int, int] | None = None
    oldest: int = 0
    head_state: tuple[int, dict[str, bytes]] = (0, {})

    def line_to(self, version: int) -> Line:
        """The line that ends at a stored version, on the head's line or off it."""
        if contains(self.line, version):
            return truncate(self.line, version)
        line = line_of(version, self.forks)
        return trimmed(line, self.oldest) if self.oldest else line

    def put_checkpoint(self, checkpoint: CheckpointRecord, messages: tuple[MessageRecord, ...]) -> None:
        """Add a row of the log, in version order."""
        version = checkpoint.version
        self.checkpoints[version] = checkpoint
        if checkpoint.parent_version != version - 1:
            self.forks.append((version, checkpoint.parent_version))
        self.put_messages(version, messages)

    def put_messages(self, version: int, messages: tuple[MessageRecord, ...]) -> None:
        """Add what a version said, of no version before one that is there."""
        if messages:
            self.messages[version] = (*self.messages.get(version, ()), *messages)
        for message in messages:
            if message.position not in self.at_position:
                insort(self.positions, message.position)
                self.at_position[message.position] = []
            self.at_position[message.position].append(message)

    def erase(self, ids: Collection[str]) -> None:
        """Drop every row of these messages, and what stood at its place before it on the line that led to it."""
        rows = [row for messages in self.messages.values() for row in messages if row.id in ids]
        gone = {(row.version, row.position) for row in rows}
        for row in rows:
            line = self.line_to(row.version)
            gone |= {
                (older.version, older.position)
                for older in self.at_position[row.position]
                if older.version < row.version and contains(line, older.version)
            }
        self.drop_messages(gone)

    def drop_messages(self, gone: Collection[tuple[int, int]]) -> None:
        """Drop the rows of these versions and positions."""
        for version in {version for version, _ in gone}:
            self.messages[version] = tuple(row for row in self.messages[version] if (version, row.position) not in gone)
        for position in {position for _, position in gone}:
            kept = [row for row in self.at_position[position] if (row.version, position) not in gone]
            self.at_position[position] = kept

    def pending(self) -> tuple[ApprovalRecord, ...]:
        """The approvals that wait, in the order they were asked."""
        return tuple(asked for asked in self.approvals.values() if asked.state is ApprovalState.PENDING)

    def newest_at(self, position: int, line: Line) -> MessageRecord | None:
        """The message at a place of a line."""
        rows = self.at_position[position]
        return next((row for row in reversed(rows) if contains(line, row.version)), None)

    def transcript(self, line: Line, *, after: int | None, newest_first: bool) -> Iterator[MessageRecord]:
        """The messages of a line beyond a position, in the order asked for."""
        places = self.positions
        if newest_first:
            end = len(places) if after is None else bisect_left(places, after)
            order = places[:end][::-1]
        else:
            order = places[0 if after is None else bisect_right(places, after) :]
        return (row for place in order if (row := self.newest_at(place, line)) is not None)

    def state_at(self, version: int) -> dict[str, bytes]:
        """The state at a stored version; the head's is kept, and brought forward from where it was asked for last."""
        line = self.line_to(version)
        known, state = self.head_state
        if not (known <= version and contains(line, known)):
            known, state = 0, {}
        for at in self.changes:
            if known < at <= version and contains(line, at):
                state = apply_delta(state, self.changes[at])
        if version == self.record.head_version:
            self.head_state = (version, state)
        return dict(state)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of a deleted thread, beside its requests."""

    epoch: int
    deleted_at_ms: int


@dataclass(slots=True)
class Tables:
    """Everything in one memory database. Requests outlive their thread, as the port wants it."""

    threads: dict[ThreadKey, StoredThread] = field(default_factory=dict)
    requests: dict[tuple[ThreadKey, bytes], RequestRecord] = field(default_factory=dict)
    tombstones: dict[ThreadKey, Tombstone] = field(default_factory=dict)
    approval_threads: dict[tuple[str, str], ThreadKey] = field(default_factory=dict)
    values: dict[CacheKey, CachedValue] = field(default_factory=dict)
    in_progress: set[ThreadKey] = field(default_factory=set)

    def incarnation(self, key: ThreadKey, uid: str) -> StoredThread | None:
        """The thread, if it is still the one with this uid."""
        thread = self.threads.get(key)
        return thread if thread is not None and thread.record.uid == uid else None

    def add(self, thread: StoredThread) -> None:
        """Add a thread, in the place of its tombstone where there is one."""
        key = thread.record.key
        if tombstone := self.tombstones.pop(key, None):
            thread.record = replace(thread.record, epoch=max(thread.record.epoch, tombstone.epoch))
        self.threads[key] = thread

    def bury(self, thread: StoredThread, tombstone: Tombstone) -> None:
        """Leave a tombstone of a thread, and its requests."""
        key = thread.record.key
        del self.threads[key]
        self.in_progress.discard(key)
        for approval_id in thread.approvals:
            del self.approval_threads[key.tenant, approval_id]
        self.tombstones[key] = tombstone

    def recorded(self, key: ThreadKey, request: RequestRecord | None) -> bool:
        """Whether the request was committed before."""
        return request is not None and (key, request.request_hash) in self.requests

    def refuse_recorded(self, key: ThreadKey, request: RequestRecord | None) -> None:
        """Raise `RequestRecorded` for a request that was committed before."""
        if self.recorded(key, request):
            raise RequestRecorded("a mutation with this request id was committed before")

    def record(self, key: ThreadKey, request: RequestRecord | None) -> None:
        """Remember a request that is now committed."""
        if request is not None:
            self.requests[key, request.request_hash] = request

    def approvals(self) -> Iterator[ApprovalRecord]:
        """Every approval."""
        for thread in self.threads.values():
            yield from thread.approvals.values()
