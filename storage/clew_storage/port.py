"""The storage port: what a backend promises. A method is one transaction, and what it returns is durable.

Every method may raise `StorageUnavailable` (so does every method of a backend that is not open), `StorageFull` or
`DataCorrupt`; what else it raises is said beside it. A refused write leaves no trace. A method that is cancelled has
either done all or nothing, and never leaves a connection or a transaction behind.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Protocol

from clew_storage.records import (
    ApprovalRecord,
    ApprovalState,
    CachedValue,
    CacheKey,
    CheckpointRecord,
    FormatChange,
    Glance,
    Grant,
    Head,
    IdleFilter,
    InfoChange,
    LogEntry,
    MessageRecord,
    RequestRecord,
    StorageStats,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
    Trim,
    Write,
    Written,
)
from clew_storage.thread_parts import Part


class Leases(Protocol):
    """Who may write to a thread: one at a time, first come first served."""

    async def acquire(self, key: ThreadKey, *, purpose: str, wait_s: float, first: bool = False) -> Grant:
        """Wait up to `wait_s` seconds (0: not at all) for the lease. A database that is only read has none to give (`StorageUnavailable`).

        Waiters are served in the order they came, those with `first` before the others. `purpose` is `run` or `write`.
        The thread need not exist. The grant's epoch is larger than every epoch granted or written before for the thread.
        Raises `LeaseBusy` when the time is over, and `ThreadMissing` when the thread is deleted while the call waits. A
        cancelled call leaves no waiter and no grant behind.
        """

    async def release(self, grant: Grant) -> None:
        """Give the lease to the next waiter. Releasing a grant that is not the current one does nothing."""

    def holder(self, key: ThreadKey) -> Grant | None:
        """The grant of this process that holds the thread now, or None. `Threads.glance` tells of other servers."""

    def holds(self, grant: Grant) -> bool:
        """Whether the grant is still the current one. Once False it stays so: also a lease that ran out is lost for good."""

    def holds_firmly(self, grant: Grant) -> bool:
        """Whether the grant is the current one and sure to stay so for a while; what has effects outside is begun only then."""

    def queued(self, key: ThreadKey) -> int:
        """How many wait in this process."""

    def sees_all(self) -> bool:
        """Whether it can be known who holds a thread: False where the database is only read, for another may own it."""


class Threads(Protocol):
    """Heads, the log and what is known of each thread."""

    async def append(self, write: Write) -> Written:
        """Append one checkpoint with all that belongs to it.

        Raises, in this order: `RequestRecorded` (its request id was recorded before), `LeaseLost` (its epoch is not the
        one that holds the lease: released, revoked, passed on or never granted; or the thread's `uid` is not the
        write's, or a thread with checkpoints is gone), `VersionConflict` (the head is elsewhere), `ApprovalNotPending`
        (one of its decisions), `CheckpointMissing` (`fork_of` is not stored). Writes that share the commit are not
        touched by a refusal. Every row of the messages that are `erased` goes, on whatever line, and with it what stood at
        its place before it on the line that led to it, so that nothing older comes to light there; then come the write's
        own messages. `redactions` take the place of what rows of the thread had, on whatever line; one for a row that was
        not there before the write does nothing. Copies that were made before keep theirs. Decisions come first, then
        redactions, then `void_approvals` voids what is still pending, then the write's own approvals are added. Nothing of
        what was erased or redacted stays in the database's files once they have taken the write in. The request to cancel is
        cleared by a write of another run or attempt than the one it was made for.
        """

    async def get_head(self, key: ThreadKey) -> Head | None:
        """The thread with its newest checkpoint, or None where there is no thread."""

    async def glance(self, keys: Sequence[ThreadKey]) -> Mapping[ThreadKey, Glance]:
        """How each of these threads stands, whichever server runs it; every key has its answer.

        One question for all threads that a server has an eye on, cheap enough to be asked again and again.
        """

    async def request_cancel(
        self, key: ThreadKey, uid: str, run_version: int, attempt: int, *, request: RequestRecord | None = None
    ) -> bool:
        """Leave word that this attempt is to be cancelled, with the record of the request that asked.

        False, and nothing done, when the head is not in progress in it or there is no such thread. Raises `RequestRecorded`.
        """

    async def get_checkpoint(self, key: ThreadKey, version: int) -> CheckpointRecord | None:
        """A stored checkpoint, on the head's line or off it; None when there is none."""

    async def list_checkpoints(
        self, key: ThreadKey, *, before_version: int | None, limit: int, at_version: int | None = None
    ) -> Sequence[CheckpointRecord]:
        """The line that ends at `at_version` (None: the head), newest first, below `before_version` (None: from its end).

        Empty where there is no thread, or no such version.
        """

    async def read_log(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int, max_bytes: int
    ) -> Sequence[LogEntry]:
        """The log in version order, abandoned lines included.

        At most `limit` entries, and after the first only while their messages fit into `max_bytes` together. Of a trimmed
        log it gives what is stored: who is after a version below `Head.oldest_version - 1` gets the entries from the oldest on,
        and sees by their versions that others were before. Raises `ThreadMissing` when the thread's uid is another one.
        """

    async def list_starts(
        self, key: ThreadKey, uid: str, *, after_version: int, limit: int
    ) -> Sequence[CheckpointRecord]:
        """The checkpoints of source `intent` or `fork` in version order, abandoned lines included.

        Costs what there is of these, however long the log is. Raises `ThreadMissing` when the thread's uid is another one.
        """

    async def get_state(self, key: ThreadKey, *, version: int | None) -> dict[str, bytes] | None:
        """The state at a checkpoint (None: the head), keys in first-write order.

        None where there is no such thread or checkpoint; empty for the head of a thread that has no checkpoint yet.
        """

    async def list_threads(
        self, tenant: str, where: ThreadFilter, *, by_update: bool, after: tuple[int, str] | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """Threads, newest first by creation (or by last change), ties by id ascending.

        `after` is the `(time in ms, thread id)` of the last one already seen. Threads made or changed meanwhile never
        make a page by creation skip or repeat one.
        """

    async def list_interrupted(
        self, apps: Sequence[str], *, after: ThreadKey | None, limit: int
    ) -> Sequence[ThreadRecord]:
        """Threads of these apps and of every tenant whose head is in progress while nobody, on whatever server, holds their lease.

        By tenant and id in the order of their code points, those beyond `after`. Costs what there is in progress, however
        many threads there are.
        """

    async def change_info(
        self,
        key: ThreadKey,
        change: InfoChange,
        *,
        create: ThreadRecord | None,
        request: RequestRecord | None,
        now_ms: int,
    ) -> ThreadRecord:
        """Change name, metadata or user; waits for no lease and makes no version.

        `create` is the thread to make where there is none; the change is applied to it, and its revision is 1. Raises,
        in this order: `RequestRecorded`, `ThreadMissing` (no thread and no `create`), `RevisionConflict` (a thread that
        is not there counts as revision 0).
        """

    async def copy_thread(self, source: ThreadKey, source_uid: str, target: ThreadRecord, write: Write) -> Written:
        """Make `target` from the source's line up to `write.fork_of`, as rows of its own, and append `write` to it.

        Versions and message ids stay; approvals and requests are not copied (the write, a fork checkpoint, brings its
        own). `write.expected_version` is `fork_of` and `write.checkpoint.version` the one after it. Takes no lease.
        Raises, in this order: `RequestRecorded` (on the target), `ThreadMissing`, `CheckpointMissing`, `ThreadExists`.
        """

    async def delete_thread(
        self, key: ThreadKey, *, request: RequestRecord | None, now_ms: int, expected_version: int | None = None
    ) -> bool:
        """Erase the thread and everything in it in one transaction; True if it existed.

        Takes no lease: it revokes the one that is held, and whoever waits for it gets `ThreadMissing`. A tombstone
        stays: the epoch, and the hashed request ids with their uid; a thread made later under the id goes on from that
        epoch. Where there was no thread nothing is revoked and `request` is not recorded. Raises, in this order:
        `RequestRecorded`, `VersionConflict` (there is a thread, and its head is elsewhere than expected; None: anywhere).
        """

    async def find_request(self, key: ThreadKey, request_hash: bytes) -> RequestRecord | None:
        """The record of a committed mutation of this thread id, of whatever incarnation, or None."""

    async def forget_requests(self, *, before_ms: int) -> int:
        """Drop request records older than that; how many went."""


class Retention(Protocol):
    """What goes when its time is over: threads that nobody uses, and checkpoints that nobody goes back to."""

    async def list_idle(self, where: IdleFilter, *, after: ThreadKey | None, limit: int) -> Sequence[ThreadRecord]:
        """Threads of every tenant that have a checkpoint and that nobody holds or waits for on whatever server, by tenant and id.

        Those beyond `after`, at most `limit`; fewer only where there are no more. However many threads have to be looked
        at, nobody else is held up by it.
        """

    async def delete_idle(self, threads: Sequence[ThreadRecord], *, now_ms: int) -> Sequence[ThreadKey]:
        """Erase those of the threads that are as `list_idle` gave them, in one transaction; the names of those that went.

        One stays that was written to or changed since (its uid, head or `updated_at_ms` is another), that somebody holds or
        waits for, or that has a pending approval. Each of the others leaves what `delete_thread` leaves. Who asks for a
        thread's lease meanwhile waits, and gets it when the thread is gone.
        """

    async def trim_thread(self, trim: Trim) -> bool:
        """Erase what a thread's line has below `trim.oldest_version`, and all that is on other lines; False, and nothing done, where it may not be.

        It may not be where the thread's uid or head is another, somebody holds or waits for it, or the version is not on the
        head's line or not above the oldest that is stored. What stays reads as before: the state at every checkpoint that is
        left, and its messages, also those of versions below (but for what an edit had replaced by then). Of approvals stay
        those that are pending, that checkpoints on the line ask from the oldest on, and that the run of the oldest asked.
        Requests stay. It is no write: neither the version nor `updated_at_ms` changes.
        """

    async def forget_leases(self, *, after: ThreadKey | None, limit: int) -> tuple[int, ThreadKey | None]:
        """Forget what is kept of leases that nobody holds or waits for, on threads that do not exist.

        Looks at `limit` of them beyond `after`, by tenant and id; how many went, and where to go on (None: that was all).
        Epochs go on growing all the same.
        """


class Messages(Protocol):
    """Messages on the head's line (or the line of an older checkpoint), in transcript order."""

    async def list_messages(
        self,
        key: ThreadKey,
        *,
        at_version: int | None = None,
        after_position: int | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Sequence[MessageRecord]:
        """The messages of the line that ends at `at_version` (None: the head).

        Those beyond `after_position` in the order asked for. Empty where there is no such thread or checkpoint.
        """

    async def get_message(self, key: ThreadKey, message_id: str) -> MessageRecord | None:
        """The message with that id on the head's line, or None."""

    async def known_ids(self, key: ThreadKey, ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that a message of the thread has, on whatever line."""


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


class Cache(Protocol):
    """Values by namespace and key, each for ever or for a time. To every method a value that has expired is not there.

    Names are compared code point by code point, and no two of them are the same value.
    """

    async def put_value(self, key: CacheKey, value: CachedValue) -> None:
        """Keep a value, in the place of the one that was there."""

    async def get_value(self, key: CacheKey, *, now_ms: int) -> CachedValue | None:
        """The value, or None."""

    async def delete_value(self, key: CacheKey, *, now_ms: int) -> bool:
        """Erase the value; True if there was one."""

    async def list_keys(
        self, tenant: str, namespace: str, *, prefix: str, after: str | None, limit: int, now_ms: int
    ) -> Sequence[str]:
        """The keys of a namespace that begin with the prefix, in the order of their code points, beyond `after`.

        Every character of the prefix stands for itself.
        """

    async def forget_expired(self, *, now_ms: int, limit: int) -> int:
        """Erase up to `limit` values of any tenant that have expired; how many went."""


class Archive(Protocol):
    """Threads as a whole, for those who keep them elsewhere or move them to another database."""

    async def list_tenants(self, *, after: str | None, limit: int) -> Sequence[str]:
        """The tenants that have threads, in the order of their code points, beyond `after`."""

    def export_thread(self, key: ThreadKey) -> AsyncGenerator[Part, None]:
        """Everything of a thread, in the order of `Part`, as it stood at one moment, the first time it is asked for.

        That is: the thread, every checkpoint of whatever line with its messages and its change of the state, approvals in
        whatever state, and the requests of its id. Needs memory for a part of a large thread at a time, holds nobody up, and
        is to be closed. Raises `ThreadMissing` where there is no thread.
        """

    async def import_thread(self, parts: Iterable[Part]) -> None:
        """Make a thread of what `export_thread` gave, of whatever backend: every read of the port finds the same.

        All or nothing; what `parts` raises leaves no trace either. They may be gone through more than once. Takes no lease.
        The thread's epoch is the database's own, a new one that is larger than every epoch before, so that what is remembered
        of a thread that was deleted is not taken for it; requests that the id has already stay as they are. Raises
        `ThreadExists`.
        """


class Sizes(Protocol):
    """How much there is of everything."""

    async def stats(self, *, largest: int) -> StorageStats:
        """Count the whole database, and name that many of its largest threads: by bytes, ties by tenant and id.

        Bytes are those of payloads: the bodies of checkpoints and messages; changes of states with their folds, as they are
        stored; bodies and decisions of approvals; replies of requests; namespaces, keys and values of the cache, also of those
        that have expired. A copy's rows are its own. Requests of deleted threads are counted, and belong to no thread. No
        payload is read for it, but every row is counted: it takes time in proportion to them, and holds nobody up.
        """


class Backend(Protocol):
    """One database."""

    url: str
    """As it may be shown: without a password."""
    shared: bool
    """Whether other processes may write to the database while this one does."""

    @property
    def place(self) -> Mapping[str, str]:
        """What the URL may leave open: the `file` with its whole path, or the `schema`. Nothing for a database in memory."""
        ...

    @property
    def leases(self) -> Leases:
        """Who may write."""
        ...

    @property
    def threads(self) -> Threads:
        """Threads and their logs."""
        ...

    @property
    def retention(self) -> Retention:
        """What may go."""
        ...

    @property
    def messages(self) -> Messages:
        """Transcripts."""
        ...

    @property
    def approvals(self) -> Approvals:
        """Questions to people."""
        ...

    @property
    def cache(self) -> Cache:
        """Values for a time."""
        ...

    @property
    def archive(self) -> Archive:
        """Threads as a whole."""
        ...

    @property
    def sizes(self) -> Sizes:
        """How much there is."""
        ...

    async def open(self, *, wait_s: float | None = None) -> FormatChange:
        """Take ownership, bring the format up to date and be ready; may be called once.

        `wait_s`: how long another's migration is waited for, by a backend that waits for one (None: as it does by itself).
        Raises `StorageRefused` (`StorageInUse` where another process owns the database) and says why.
        """

    async def close(self) -> None:
        """Finish what was begun, release ownership. Whoever waits for a lease gets `StorageUnavailable`.

        Harmless when called twice, or before `open`.
        """

    async def reopen(self) -> None:
        """Go on in another event loop, after the one that it was opened in is closed and its tasks are gone.

        What was committed is kept, also in memory; leases that were held are free.
        """

    async def check(self) -> None:
        """Cheap proof that reads and writes would work now; raises what they would raise."""
