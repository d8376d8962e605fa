"""What a cancel is about: whatever is newest, a run, or the attempt that a request began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_engine import ids
from clew_engine.errors import ArgumentInvalidError, RunNotFoundError, ThreadNotFoundError
from clew_engine.requests import check_request_id
from clew_storage import CheckpointRecord, ThreadKey

if TYPE_CHECKING:
    from clew_engine.storage import Storage

_FIELD = "started_by_request_id"
_BEGIN = ("send", "decide", "resume", "retry")


@dataclass(frozen=True, slots=True)
class Target:
    """A run (empty: whichever is newest), and one attempt of it (0: whichever is newest). `started_by` is how the caller named it, if so."""

    run_id: str = ""
    attempt: int = 0
    started_by: str = ""

    def check(self, key: ThreadKey, uid: str, head: CheckpointRecord) -> None:
        """Raises RunNotFoundError where the thread's newest attempt is another one."""
        newest = ids.run_id(uid, head.run_version)
        if self.run_id in ("", newest) and self.attempt in (0, head.attempt):
            return
        if self.started_by:
            raise RunNotFoundError(
                f"what request {self.started_by!r} began on thread {key.thread_id!r} is over, and a newer attempt has followed; nothing was cancelled",
                run_id=self.run_id,
                started_by_request_id=self.started_by,
            )
        raise RunNotFoundError(
            f"run {self.run_id!r} is not the newest one of thread {key.thread_id!r}; nothing was cancelled",
            run_id=self.run_id,
        )


async def target_of(storage: Storage, key: ThreadKey, run_id: str, started_by: str) -> Target | None:
    """The target that a caller names by one of the two, or by none; None for a request that waited for its turn and is withdrawn now.

    Raises RunNotFoundError for a request that has begun nothing, and does not wait either: it was refused, or has not come yet.
    """
    if not started_by:
        return Target(run_id)
    if run_id:
        raise ArgumentInvalidError(_FIELD, "name the run or the request that began it, not both")
    check_request_id(started_by, _FIELD)
    begun = await _begun_by(storage, key, started_by)
    if begun is None:
        withdrawn = await storage.arrivals.withdraw(key, started_by)
        begun = await _begun_by(storage, key, started_by)
        if begun is None and withdrawn:
            return None
    if begun is None and await storage.backend.threads.get_head(key) is None:
        raise ThreadNotFoundError(key.thread_id)
    if begun is None:
        raise RunNotFoundError(
            f"request {started_by!r} has begun no run of thread {key.thread_id!r}: it was refused, or has not come yet; if it may be on its way, "
            "end its call, or ask again when it has said something",
            started_by_request_id=started_by,
        )
    return begun


async def _begun_by(storage: Storage, key: ThreadKey, request_id: str) -> Target | None:
    found = await storage.backend.threads.find_request(key, ids.request_hash(request_id))
    if found is None or found.verb not in _BEGIN:
        return None
    head = await storage.backend.threads.get_head(key)
    record = await storage.backend.threads.get_checkpoint(key, found.version)
    if head is None or record is None or head.thread.uid != found.uid:
        return None
    return Target(ids.run_id(found.uid, record.run_version), record.attempt, request_id)
