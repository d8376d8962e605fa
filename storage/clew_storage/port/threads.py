"""The port's `Threads`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from clew_storage.records import (
    CheckpointRecord,
    Glance,
    Head,
    InfoChange,
    LogEntry,
    RequestRecord,
    ThreadFilter,
    ThreadKey,
    ThreadRecord,
    Write,
    Written,
)


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
