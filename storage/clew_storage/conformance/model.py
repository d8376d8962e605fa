"""The plain model: every version keeps its whole state and transcript, nothing is clever, nothing is fast."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from clew_storage.errors import (
    ApprovalNotPending,
    CheckpointMissing,
    LeaseLost,
    RequestRecorded,
    RevisionConflict,
    StorageError,
    ThreadExists,
    ThreadMissing,
    VersionConflict,
)
from clew_storage.records import (
    ApprovalRecord,
    ApprovalRedaction,
    ApprovalState,
    CheckpointRecord,
    CheckpointRedaction,
    Grant,
    InfoChange,
    MessageRecord,
    RequestRecord,
    StateChange,
    Status,
    ThreadInfo,
    ThreadKey,
    ThreadRecord,
    Trim,
    Write,
)


class Version(Struct):
    """A checkpoint with all that could be seen at it: its line, its state and its transcript by position."""

    checkpoint: CheckpointRecord
    line: list[int]
    messages: tuple[MessageRecord, ...]
    state: dict[str, list[bytes] | bytes]
    transcript: dict[int, MessageRecord]


@dataclass
class Thread:
    """A thread of the model."""

    uid: str
    info: ThreadInfo
    created_at_ms: int
    updated_at_ms: int
    head: int = 0
    versions: dict[int, Version] = field(default_factory=dict)
    approvals: dict[str, ApprovalRecord] = field(default_factory=dict)
    cancel: tuple[int, int] | None = None
    oldest: int = 0
    below: dict[int, MessageRecord] = field(default_factory=dict)
    """The transcript that the oldest version goes on from, once the log was trimmed."""

    @property
    def status(self) -> Status | None:
        """The head's."""
        return self.versions[self.head].checkpoint.status if self.head else None

    def pending(self) -> list[ApprovalRecord]:
        """What waits."""
        return [asked for asked in self.approvals.values() if asked.state is ApprovalState.PENDING]


class Model:
    """What a backend must look like from outside."""

    def __init__(self) -> None:
        self.threads: dict[ThreadKey, Thread] = {}
        self.requests: dict[tuple[ThreadKey, bytes], RequestRecord] = {}
        self.held: dict[ThreadKey, Grant] = {}

    def append(self, write: Write) -> StorageError | None:
        """Do the write, or tell why not."""
        thread = self.threads.get(write.key)
        if refusal := self._refusal(thread, write):
            return refusal
        if thread is None:
            now = write.checkpoint.created_at_ms
            thread = Thread(write.uid, write.info or ThreadInfo(), now, now)
            self.threads[write.key] = thread
        elif write.info is not None:
            thread.info = _filled(thread.info, write.info)
        self._put(thread, write, thread.head if write.fork_of is None else write.fork_of)
        return None

    def _refusal(self, thread: Thread | None, write: Write) -> StorageError | None:  # noqa: PLR0911 - one a refusal
        if self._recorded(write.key, write.request):
            return RequestRecorded("")
        held = self.held.get(write.key)
        if held is None or held.epoch != write.epoch:
            return LeaseLost("")
        if (thread is None and write.expected_version) or (thread is not None and thread.uid != write.uid):
            return LeaseLost("")
        if thread is not None and thread.head != write.expected_version:
            return VersionConflict(write.expected_version, thread.head)
        pending = {asked.id for asked in thread.pending()} if thread else set()
        for made in write.decisions:
            if made.approval_id not in pending:
                return ApprovalNotPending(made.approval_id)
        if write.fork_of is not None and (thread is None or write.fork_of not in thread.versions):
            return CheckpointMissing("")
        return None

    def _put(self, thread: Thread, write: Write, base: int) -> None:
        checkpoint = write.checkpoint
        _erase(thread, set(write.erased))
        for redaction in write.redactions:
            if isinstance(redaction, CheckpointRedaction) and (version := thread.versions.get(redaction.version)):
                told = replace(version.checkpoint, body=redaction.body)
                thread.versions[redaction.version] = replace(version, checkpoint=told)
        before = thread.versions.get(base)
        thread.versions[checkpoint.version] = Version(
            checkpoint,
            [*(before.line if before else []), checkpoint.version],
            write.messages,
            _changed(before.state if before else {}, write.state or StateChange()),
            {**(before.transcript if before else {}), **{message.position: message for message in write.messages}},
        )
        thread.head, thread.updated_at_ms = checkpoint.version, checkpoint.created_at_ms
        if thread.cancel != (checkpoint.run_version, checkpoint.attempt):
            thread.cancel = None
        now = checkpoint.created_at_ms
        for made in write.decisions:
            asked = thread.approvals[made.approval_id]
            thread.approvals[asked.id] = replace(asked, state=made.state, decided_at_ms=now, decision=made.decision)
        for redaction in write.redactions:
            if isinstance(redaction, ApprovalRedaction) and (known := thread.approvals.get(redaction.approval_id)):
                thread.approvals[known.id] = replace(known, body=redaction.body, decision=redaction.decision)
        for asked in thread.pending() if write.void_approvals else []:
            thread.approvals[asked.id] = replace(asked, state=ApprovalState.VOID, decided_at_ms=now)
        thread.approvals |= {asked.id: asked for asked in write.approvals}
        self._record(write.key, write.request)

    def copy(self, source: ThreadKey, uid: str, target: ThreadRecord, write: Write) -> StorageError | None:
        """Do the copy, or tell why not."""
        if self._recorded(target.key, write.request):
            return RequestRecorded("")
        origin = self.threads.get(source)
        if origin is None or origin.uid != uid:
            return ThreadMissing("")
        if write.fork_of not in origin.versions:
            return CheckpointMissing("")
        if target.key in self.threads:
            return ThreadExists("")
        made = Thread(target.uid, target.info, target.created_at_ms, target.updated_at_ms, head=write.fork_of)
        line = origin.versions[write.fork_of].line
        made.versions = {version: origin.versions[version] for version in line if version in origin.versions}
        made.oldest, made.below = origin.oldest, dict(origin.below)
        self.threads[target.key] = made
        self._put(made, write, write.fork_of)
        return None

    def change_info(
        self, key: ThreadKey, change: InfoChange, create: ThreadRecord | None, request: RequestRecord | None, now: int
    ) -> StorageError | None:
        """Do the change, or tell why not."""
        if self._recorded(key, request):
            return RequestRecorded("")
        thread = self.threads.get(key)
        if thread is None and create is None:
            return ThreadMissing("")
        revision = thread.info.revision if thread else 0
        if change.expected_revision not in {None, revision}:
            return RevisionConflict(change.expected_revision or 0, revision)
        if thread is None:
            assert create is not None
            thread = self.threads[key] = Thread(create.uid, create.info, create.created_at_ms, now)
        wanted = {"name": change.name, "metadata": change.metadata, "user_id": change.user_id}
        given = {field: value for field, value in wanted.items() if value is not None}
        thread.info = replace(thread.info, **given, revision=revision + 1)
        thread.updated_at_ms = now
        self._record(key, request)
        return None

    def request_cancel(
        self, key: ThreadKey, uid: str, run_version: int, attempt: int, request: RequestRecord | None
    ) -> bool | StorageError:
        """Whether word was left, as the head is in progress in that attempt; or why not."""
        if self._recorded(key, request):
            return RequestRecorded("")
        thread = self.threads.get(key)
        if thread is None or thread.uid != uid or thread.status is not Status.IN_PROGRESS:
            return False
        head = thread.versions[thread.head].checkpoint
        if (head.run_version, head.attempt) != (run_version, attempt):
            return False
        thread.cancel = (run_version, attempt)
        self._record(key, request)
        return True

    def delete(self, key: ThreadKey, request: RequestRecord | None) -> bool | StorageError:
        """Whether there was a thread, or why not."""
        if self._recorded(key, request):
            return RequestRecorded("")
        if self.threads.pop(key, None) is None:
            return False
        self.held.pop(key, None)
        self._record(key, request)
        return True

    def is_idle(self, key: ThreadKey) -> bool:
        """Whether there is a thread with a checkpoint that nobody holds."""
        return key not in self.held and key in self.threads and self.threads[key].head > 0

    def trim(self, trim: Trim) -> bool:
        """Let the log begin there, where it may."""
        thread = self.threads.get(trim.key)
        if thread is None or not self.is_idle(trim.key) or (thread.uid, thread.head) != (trim.uid, trim.head_version):
            return False
        line, oldest = thread.versions[thread.head].line, trim.oldest_version
        if oldest not in line or oldest <= thread.oldest:
            return False
        first = thread.versions[oldest]
        thread.below = {at: row for at, row in first.transcript.items() if row.version != oldest}
        thread.oldest = oldest
        gone_before = range(1, oldest)
        thread.versions = {
            number: replace(version, line=[*gone_before, *(at for at in version.line if at >= oldest)])
            for number, version in thread.versions.items()
            if number in line and number >= oldest
        }
        thread.approvals = {
            asked.id: asked
            for asked in thread.approvals.values()
            if asked.state is ApprovalState.PENDING
            or asked.version in thread.versions
            or (asked.version in line and asked.run_version == first.checkpoint.run_version)
        }
        for told in trim.redactions:
            if version := thread.versions.get(told.version):
                thread.versions[told.version] = replace(version, checkpoint=replace(version.checkpoint, body=told.body))
        return True

    def forget(self, before: int) -> int:
        """Drop old requests."""
        old = [place for place, request in self.requests.items() if request.created_at_ms < before]
        for place in old:
            del self.requests[place]
        return len(old)

    def listed(self, tenant: str, *, by_update: bool, after: tuple[int, str] | None) -> list[str]:
        """Thread ids, newest first."""
        places = sorted(
            (-(thread.updated_at_ms if by_update else thread.created_at_ms), key.thread_id)
            for key, thread in self.threads.items()
            if key.tenant == tenant
        )
        return [name for time, name in places if after is None or (time, name) > (-after[0], after[1])]

    def _recorded(self, key: ThreadKey, request: RequestRecord | None) -> bool:
        return request is not None and (key, request.request_hash) in self.requests

    def _record(self, key: ThreadKey, request: RequestRecord | None) -> None:
        if request is not None:
            self.requests[key, request.request_hash] = request


def _erase(thread: Thread, ids: set[str]) -> None:
    """Take the messages out of every version, and what they had replaced; then tell every transcript anew."""
    rows = [(number, row.position) for number, at in thread.versions.items() for row in at.messages if row.id in ids]
    if not rows and not any(row.id in ids for row in thread.below.values()):
        return
    gone = {(older, position) for number, position in rows for older in thread.versions[number].line}
    thread.below = {
        position: row
        for position, row in thread.below.items()
        if row.id not in ids and (row.version, position) not in gone
    }
    for number, at in sorted(thread.versions.items()):
        kept = tuple(row for row in at.messages if (number, row.position) not in gone)
        before = thread.versions.get(at.line[-2]) if len(at.line) > 1 else None
        transcript_before = before.transcript if before else thread.below
        transcript = {**transcript_before, **{row.position: row for row in kept}}
        thread.versions[number] = replace(at, messages=kept, transcript=transcript)


def _filled(info: ThreadInfo, given: ThreadInfo) -> ThreadInfo:
    metadata = info.metadata if info.metadata != b"{}" else given.metadata
    filled = replace(
        info, app=info.app or given.app, user_id=info.user_id or given.user_id, name=info.name or given.name,
        metadata=metadata,
    )  # fmt: skip
    return info if filled == info else replace(filled, revision=info.revision + 1)


def _changed(state: dict[str, list[bytes] | bytes], change: StateChange) -> dict[str, list[bytes] | bytes]:
    """An array that was made by appending is a list of its elements; other values are bytes that no test appends to."""
    result = {key: value for key, value in state.items() if key not in change.removed}
    result |= change.replaced
    for key, elements in change.appended.items():
        array = result.get(key, [])
        assert isinstance(array, list)
        result[key] = [*array, *elements]
    return result


def spelled(state: dict[str, list[bytes] | bytes]) -> list[tuple[str, bytes]]:
    """The model's state as a backend must give it, in order."""
    return [(key, b"[" + b",".join(value) + b"]" if isinstance(value, list) else value) for key, value in state.items()]


def ranges(line: list[int]) -> tuple[tuple[int, int], ...]:
    """A line as version ranges."""
    spans: list[tuple[int, int]] = []
    for version in line:
        if spans and spans[-1][1] == version - 1:
            spans[-1] = (spans[-1][0], version)
        else:
            spans.append((version, version))
    return tuple(spans)
