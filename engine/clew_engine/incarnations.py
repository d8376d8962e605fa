"""What is said where one incarnation of a thread was meant, and its id names another one now, or none."""

from __future__ import annotations

from clew_engine import ids
from clew_engine.errors import CheckpointNotFoundError, ThreadNotFoundError
from clew_storage import Head, LeaseLost


class Deleted(LeaseLost):
    """The right to write was lost because the thread was deleted. `head` is what its id names now."""

    def __init__(self, uid: str, head: Head | None) -> None:
        super().__init__("the thread was deleted")
        self.uid = uid
        self.head = head


def deleted(thread_id: str, uid: str = "", head: Head | None = None) -> ThreadNotFoundError:
    """The error of a call in whose middle the thread was deleted."""
    now = f"; the id names another thread now, of uid {head.thread.uid!r}" if head else ""
    named = {"thread_uid": uid} if uid else {}
    present = {"present_uid": head.thread.uid} if head else {}
    return ThreadNotFoundError(
        thread_id,
        f"thread {thread_id!r} was deleted, and nothing is written to it any more{now}",
        **named,
        **present,
    )


def not_watched(thread_id: str, uid: str, head: Head | None) -> ThreadNotFoundError:
    """The error of a watch of the incarnation `uid` (empty: whichever there is), where the id's head is another one's, or None."""
    if not uid:
        return ThreadNotFoundError(thread_id)
    if head is None:
        return ThreadNotFoundError(
            thread_id,
            f"there is no thread {thread_id!r} of uid {uid!r}: it was deleted, if it ever was; the first send to the id makes a new thread",
            thread_uid=uid,
        )
    return ThreadNotFoundError(
        thread_id,
        f"there is no thread {thread_id!r} of uid {uid!r}: it was deleted, if it ever was, and the id names another thread now, of uid "
        f"{head.thread.uid!r}; watch that one from version 0, with its uid or without any",
        thread_uid=uid,
        present_uid=head.thread.uid,
    )


def not_repeated(thread_id: str, uid: str, head: Head | None) -> ThreadNotFoundError:
    """The error of a request that was done before, to an incarnation that has been deleted since."""
    now = f", and the id names another thread now, of uid {head.thread.uid!r}" if head else ""
    present = {"present_uid": head.thread.uid} if head else {}
    return ThreadNotFoundError(
        thread_id,
        f"this request was done before, to thread {thread_id!r} of uid {uid!r}, which has been deleted since{now}; to do it anew, use a new request id",
        thread_uid=uid,
        **present,
    )


def not_told_again(thread_id: str, uid: str, version: int) -> CheckpointNotFoundError:
    """The error of a request that was done before, and whose checkpoint was trimmed since."""
    checkpoint_id = ids.checkpoint_id(uid, version)
    return CheckpointNotFoundError(
        thread_id,
        checkpoint_id,
        f"this request was done before, and is not done again; the checkpoint {checkpoint_id!r} that tells of it was trimmed from thread "
        f"{thread_id!r} since; read how the thread stands now",
    )
