"""What the port speaks: frozen records and JSON bytes, independent of any wire version.

Times are milliseconds since 1970 (UTC), given by the caller. Versions count a thread's checkpoints from 1; 0 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """What a checkpoint says of its run."""

    IN_PROGRESS = "in_progress"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"


class Source(StrEnum):
    """What wrote a checkpoint."""

    INPUT = "input"
    STEP = "step"
    INTENT = "intent"
    SUSPEND = "suspend"
    DECISION = "decision"
    RETRY = "retry"
    FAILURE = "failure"
    FORK = "fork"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class FormatChange:
    """The format that a database had when it was opened, 0 where there was none, and the one that it has since. In memory both are 0."""

    before: int
    now: int


class ApprovalState(StrEnum):
    """Where an approval stands. Only a pending one can be decided, and only once."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    ANSWERED = "answered"
    EXPIRED = "expired"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """A thread's name: ids are unique within a tenant."""

    tenant: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """What is known of a thread beside its checkpoints.

    Changing it has no version; `revision` grows by one with each change.
    """

    app: str = ""
    user_id: str = ""
    name: str = ""
    metadata: bytes = b"{}"
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A thread as it stands. `head_version` is 0 and `head_status` None before its first checkpoint.

    `epoch` is that of the newest write, or that an import was given: larger than all that the id had before a delete. So
    `uid`, `epoch` and `head_version` together name one content, also where an archive brings a uid and its versions back.
    """

    key: ThreadKey
    uid: str
    info: ThreadInfo
    head_version: int
    head_status: Status | None
    epoch: int
    created_at_ms: int
    updated_at_ms: int


@dataclass(frozen=True, slots=True)
class CheckpointRecord:
    """One row of the log. `body` is the engine's JSON: continuation, calls started and finished, failure."""

    version: int
    parent_version: int
    run_version: int
    attempt: int
    status: Status
    source: Source
    step: int
    next_position: int
    created_at_ms: int
    body: bytes = b"{}"


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One message as written by checkpoint `version`; the newest row of a position on a line is the message there."""

    id: str
    version: int
    position: int
    role: str
    created_at_ms: int
    body: bytes


@dataclass(frozen=True, slots=True)
class StateChange:
    """What one checkpoint changes in the state: first `removed`, then `replaced`, then `appended`.

    Values are the JSON bytes as sent. Replacing keeps a key's place in the order; a removed key that comes back comes
    last. Elements are appended to a JSON array; what is missing, or is no array, counts as an empty one (whoever minds
    checks before writing: a stored change must never be one that cannot be read back).
    """

    replaced: dict[str, bytes] = field(default_factory=dict)
    appended: dict[str, tuple[bytes, ...]] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """A question to a person. `version` is the checkpoint that asked; `body` and `decision` are the engine's JSON."""

    id: str
    key: ThreadKey
    uid: str
    run_version: int
    version: int
    kind: str
    state: ApprovalState
    created_at_ms: int
    expires_at_ms: int | None
    body: bytes
    decided_at_ms: int | None = None
    decision: bytes | None = None


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """The end of one pending approval."""

    approval_id: str
    state: ApprovalState
    decision: bytes


@dataclass(frozen=True, slots=True)
class CheckpointRedaction:
    """What a stored checkpoint has as its body from now on."""

    version: int
    body: bytes


@dataclass(frozen=True, slots=True)
class ApprovalRedaction:
    """What a stored approval has as its body and its decision from now on; how it stands does not change."""

    approval_id: str
    body: bytes
    decision: bytes | None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A committed mutation, kept for 24 h so that the same request finds its first outcome.

    `request_hash` and `body_digest` are 16 bytes each. `version` is the first checkpoint that the mutation wrote (0:
    none), `uid` the incarnation it was written to; `reply` is the engine's JSON for mutations whose outcome is not in
    the log.
    """

    request_hash: bytes
    body_digest: bytes
    verb: str
    uid: str
    version: int
    created_at_ms: int
    reply: bytes = b""


@dataclass(frozen=True, slots=True)
class Write:
    """One atomic append to a thread: all of it becomes durable, or none.

    `checkpoint.version` is `expected_version + 1`. `expected_version` 0 makes the thread (or gives one that has no
    checkpoint yet its first, which may have any version: a run that began elsewhere keeps its count); `info` is then
    its info. Of a thread that is there already `info` fills only what is empty. `fork_of` names the version whose line
    the checkpoint continues instead of the head's; `checkpoint.parent_version` is `fork_of`, or else
    `expected_version`. `erased` are ids of messages that are to be in no version any more, `redactions` what other
    rows that told of them say instead. `head_epoch` is the thread's epoch as the writer knows it at the head that it
    expects: what a backend remembers of that version counts only where it was remembered under the same one.
    """

    key: ThreadKey
    uid: str
    epoch: int
    expected_version: int
    checkpoint: CheckpointRecord
    info: ThreadInfo | None = None
    messages: tuple[MessageRecord, ...] = ()
    erased: tuple[str, ...] = ()
    redactions: tuple[CheckpointRedaction | ApprovalRedaction, ...] = ()
    state: StateChange | None = None
    approvals: tuple[ApprovalRecord, ...] = ()
    decisions: tuple[ApprovalDecision, ...] = ()
    void_approvals: bool = False
    request: RequestRecord | None = None
    fork_of: int | None = None
    head_epoch: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """What an append tells its writer: the thread as it now stands, and whether someone asked to cancel its run."""

    thread: ThreadRecord
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Head:
    """A thread with its newest checkpoint (None before the first) and the version ranges, oldest first, of its line.

    `pending` are the approvals that wait at the head, in the order they were asked. `cancel_requested`: someone asked to
    cancel the attempt that the head belongs to. `oldest_version` is where the stored log begins once it was trimmed, 0
    where it never was; of what was trimmed every version counts as one of the line.
    """

    thread: ThreadRecord
    checkpoint: CheckpointRecord | None
    line: tuple[tuple[int, int], ...]
    pending: tuple[ApprovalRecord, ...]
    cancel_requested: bool
    oldest_version: int = 0


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One version of the log with what that write brought, in the order given.

    Approvals stand as they are now, not as they were asked.
    """

    checkpoint: CheckpointRecord
    messages: tuple[MessageRecord, ...]
    approvals: tuple[ApprovalRecord, ...]


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """Which threads to list; None means any.

    `text` matches a part of the id or the name, without regard to case and accents. `metadata` is a JSON object of strings, numbers,
    booleans and nulls: a thread's metadata has all its pairs at the top level. `thread_filters` decides both.
    """

    user_id: str | None = None
    app: str | None = None
    status: Status | None = None
    metadata: bytes | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class IdleFilter:
    """Which of the threads that nobody holds or waits for to list; what is empty or None means any.

    `before_ms`: neither written to nor changed since. A thread with a pending approval counts as suspended, whatever its
    head says. `longer_than`: there are more than so many versions from the oldest that is stored to the head.
    """

    statuses: tuple[Status, ...] = ()
    before_ms: int | None = None
    apps: tuple[str, ...] = ()
    user_ids: tuple[str, ...] = ()
    longer_than: int = 0


@dataclass(frozen=True, slots=True)
class Trim:
    """Where a thread's stored log is to begin: at `oldest_version`, which is on the line of the head at `head_version`.

    `redactions` are what checkpoints that stay have as their bodies from then on.
    """

    key: ThreadKey
    uid: str
    head_version: int
    oldest_version: int
    redactions: tuple[CheckpointRedaction, ...] = ()


@dataclass(frozen=True, slots=True)
class InfoChange:
    """A change of a thread's info: what is None stays."""

    name: str | None = None
    metadata: bytes | None = None
    user_id: str | None = None
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to write to a thread until it is released, revoked by a delete, or lost."""

    key: ThreadKey
    epoch: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Glance:
    """How a thread stands at a moment, for whoever only wants to know whether to look closer.

    `uid` is empty, and `head_version` 0, where there is no thread; the lease may be held all the same. `holder` is the
    grant that holds it, and `waiting` how many wait for it, on whatever server; `cancel_requested` as in `Head`, `epoch` as
    in `ThreadRecord`.
    """

    uid: str = ""
    head_version: int = 0
    cancel_requested: bool = False
    holder: Grant | None = None
    waiting: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The name of a value in the cache. Namespace and key are any text that UTF-8 can hold, NUL included."""

    tenant: str
    namespace: str
    key: str


@dataclass(frozen=True, slots=True)
class CachedValue:
    """A value of the cache: JSON as sent. From `expires_at_ms` on it is gone; None: it never expires."""

    value: bytes
    expires_at_ms: int | None = None

    def lives(self, now_ms: int) -> bool:
        """Whether its time is not over."""
        return self.expires_at_ms is None or self.expires_at_ms > now_ms


class Kind(StrEnum):
    """What the bytes of a database are for."""

    CHECKPOINTS = "checkpoints"
    MESSAGES = "messages"
    STATES = "states"
    APPROVALS = "approvals"
    REQUESTS = "requests"
    CACHE = "cache"


@dataclass(frozen=True, slots=True)
class Amount:
    """How much there is of a kind: `rows`, and the bytes of their payloads."""

    rows: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class ThreadSize:
    """A thread's name and the bytes of all that it holds, by kind; kinds of which it has nothing are left out."""

    key: ThreadKey
    bytes: int
    kinds: Mapping[Kind, Amount]


@dataclass(frozen=True, slots=True)
class StorageStats:
    """What a database holds. `by_status` counts threads, under None those without a checkpoint; `kinds` has every kind.

    `database_bytes` is what the database itself takes on its disk, with columns, indexes and free pages; None where there is
    no disk.
    """

    threads: int
    by_status: Mapping[Status | None, int]
    kinds: Mapping[Kind, Amount]
    largest: tuple[ThreadSize, ...]
    database_bytes: int | None
